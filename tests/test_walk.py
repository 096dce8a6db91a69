"""A walk through the life of one trait: 120 mornings on the real store with the real judging, then on to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from bot.memory.people import Trait, TraitStatus
from tests.meta.source import ROOT
from tests.support.judge import be_honest
from tests.support.model_server import ModelServer
from tests.support.scene import MIO, Scene, open_scene

BEGIN: Final = datetime(2026, 3, 1, 5, tzinfo=UTC)
ACTIVE, DORMANT, FORGOTTEN = TraitStatus


@dataclass(frozen=True, slots=True)
class Day:
    """How the trait stands from the morning of a day on, days counted from the one on which it was first kept."""

    day: int
    what: str
    importance: int
    matches: int
    status: TraitStatus
    hazy: bool = False

    @property
    def row(self) -> str:
        """The line of the table in ``docs/people.md``."""
        hazy = ", hazy" if self.hazy else ""
        return f"| {self.day} | {self.what} | {self.importance} | {self.matches} | {self.status}{hazy} |"


GONE: Final = 350
LAST_ROW: Final = f"| {GONE} | forgotten for 30 days: gone for good | – | – | – |"
LIFE: Final = (
    Day(0, "kept: a note showed a habit", 2, 1, ACTIVE),
    Day(3, "seen again", 3, 2, ACTIVE),
    Day(33, "not seen for 30 days", 2, 2, ACTIVE),
    Day(63, "not seen for 60 days", 1, 2, ACTIVE),
    Day(93, "not seen for 90 days", 0, 2, DORMANT),
    Day(100, "the talk touched it the evening before", 1, 2, ACTIVE, hazy=True),
    Day(130, "not touched again for 30 days", 0, 2, DORMANT),
    Day(190, "dormant for 60 days", 0, 2, FORGOTTEN),
    Day(200, "restored by its person the evening before", 2, 2, ACTIVE),
    Day(230, "not seen for 30 days", 1, 2, ACTIVE),
    Day(260, "not seen for 60 days", 0, 2, DORMANT),
    Day(320, "dormant for 60 days", 0, 2, FORGOTTEN),
)
# What Mio writes on the evening before a day.
EVENINGS: Final = {
    0: "I run along the river every morning before work.",
    1: "I cram every night for the pilot exam on 2026-07-25.",
    3: "As I said, I run along the river every morning before work.",
    50: "The harbour is grey tonight.",
    80: "Somebody left a crate here.",
    95: "Did you see the lamp on the pier?",
    100: "Would you run along the river with me tomorrow, before work?",
    110: "That rope looks old.",
}
TRAIT: Final = "Mio: Runs along the river every morning before work."
HAZY: Final = "(only vaguely remembered)"


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db") as opened:
        be_honest(server)
        yield opened


def evening_before(day: int) -> datetime:
    return BEGIN + timedelta(days=day, hours=-8)


async def morning(scene: Scene, day: int) -> tuple[Trait, ...]:
    """Five o'clock; the traits as they stand after it."""
    scene.clock.time = BEGIN + timedelta(days=day)
    await scene.core.judging.hold_mornings()
    await scene.core.judging.run_due()
    (portrait,) = await scene.core.store.portraits_of(MIO, 1, everywhere=False)
    return portrait.traits


async def another_story(scene: Scene) -> None:
    """The same two in another session, whose prompts repeat nothing of the first."""
    place, character = scene.session.place, scene.session.character
    await scene.core.engine.stop_session(place.channel_id)
    started = await scene.core.engine.start_session(place, character.scope, character.card.name, greeting=False)
    scene.session = started.session


async def test_a_trait_is_kept_fades_comes_back_hazy_and_goes(scene: Scene) -> None:
    seen: list[tuple[int, int, int, TraitStatus, bool]] = []
    told: dict[int, str] = {}
    gone = None
    # After 120 days the bot is only there every fifth.
    for day in [*range(121), *range(125, 360, 5)]:
        if text := EVENINGS.get(day):
            scene.clock.time = evening_before(day)
            await scene.exchange(text)
            told[day] = scene.prompts()[-1]
        if day == 94:
            await another_story(scene)
        if day == 200:
            scene.clock.time = evening_before(day)
            await scene.core.people.restore(MIO, 1)
        traits = {trait.id: trait for trait in await morning(scene, day)}
        if 1 not in traits:
            gone = day
            break
        trait = traits[1]
        stands = (trait.importance, trait.matches, trait.status, trait.hazy and trait.status is ACTIVE)
        if not seen or seen[-1][1:] != stands:
            seen.append((day, *stands))
        if day == 120:
            exam = traits[2]
            assert (exam.until, exam.importance, exam.status) == (date(2026, 7, 25), 1, ACTIVE)

    assert seen == [(d.day, d.importance, d.matches, d.status, d.hazy) for d in LIFE]
    assert gone == GONE
    assert [day for day, prompt in told.items() if TRAIT in prompt] == [1, 3, 50, 80, 100, 110]
    assert f"{TRAIT} {HAZY}" in told[100]


def test_the_documentation_shows_this_life() -> None:
    text = (ROOT / "docs/people.md").read_text(encoding="utf-8")

    assert [row for row in [*(day.row for day in LIFE), LAST_ROW] if row not in text] == []
