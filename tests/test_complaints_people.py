"""What people complained about in other bots, as far as it concerns persons, decay and deletion, played from end to end.

Some have their test elsewhere already:

| complaint | test |
|---|---|
| cross-user | ``cogs.test_about_me`` (another player, a moderator) and ``test_people`` (every use case with another's id) |
| forget-me | ``test_privacy`` and ``store.test_forgetting`` (the bytes of the file, the index, every table, the log) |
| hypothetical, embedded-orders | ``memory.test_judgement`` (tables in three languages) |
| forged-turn | ``memory.test_premise`` (lines and names) |
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.memory.people import Portrait, TraitStatus
from bot.memory.wording import WORDINGS
from tests.support.judge import NOTES, TRAITS, be_honest, holding, other_lines, own_lines, shown_notes
from tests.support.model_server import ModelServer
from tests.support.scene import ALEX, MIO, Scene, open_scene


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        be_honest(running)
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db") as opened:
        yield opened


async def morning(scene: Scene) -> None:
    """A day passes, and what is left is judged."""
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()
    await scene.core.judging.run_due()


async def known(scene: Scene, player_id: int) -> Portrait:
    """All that the character keeps about a person."""
    (portrait,) = await scene.core.store.portraits_of(player_id, 1)
    return portrait


def noting(**texts: str) -> Any:
    """A judge who notes a text for each line with a word, whoever wrote it."""

    def judge(body: dict[str, Any]) -> dict[str, Any]:
        lines = {**own_lines(body), **other_lines(body)}
        found = [(text, number) for word, text in texts.items() for number, line in lines.items() if word in line]
        return {"notes": [{"text": text, "cites": [number]} for text, number in found]}

    return judge


async def test_sender_lost_and_cached_uid_opposite_tastes_stay_with_their_person(scene: Scene) -> None:
    await scene.hear("I love olives every day.")
    await scene.exchange("I hate olives, always did.", by=ALEX, name="Alex")
    scene.server.on[NOTES] = noting(love="Loves olives.", hate="Hates olives.")

    await morning(scene)

    assert [trait.text for trait in (await known(scene, MIO)).traits] == ["Loves olives."]
    assert [trait.text for trait in (await known(scene, ALEX)).traits] == ["Hates olives."]
    await scene.exchange("Good evening.")
    await scene.exchange("Evening.", by=ALEX, name="Alex")
    assert "- Mio: Loves olives." in scene.prompts()[-1]
    assert "- Alex: Hates olives." in scene.prompts()[-1]


async def test_person_flip_a_player_is_not_the_character(scene: Scene) -> None:
    await scene.exchange("I got off work at 9:30 again.", '"I get off work at midnight, I sort the mail."')
    scene.server.on[NOTES] = noting(
        again="Got off work at 9:30 again.", midnight="Gets off work at midnight, sorts the mail."
    )

    await morning(scene)

    assert [note.text for note in (await known(scene, MIO)).notes] == ["Got off work at 9:30 again."]


@pytest.mark.parametrize(
    ("language", "talk", "note"),
    [
        ("ja", "毎朝川沿いを五キロ走っています。", "毎朝川沿いを五キロ走っている。"),
        ("zh", "我每天早上都沿着河边跑五公里。", "每天早上沿着河边跑五公里。"),
    ],
)
async def test_language_a_person_is_kept_in_their_own(scene: Scene, language: Any, talk: str, note: str) -> None:
    await scene.exchange(talk, "「そうか。」" if language == "ja" else "“是吗。”")
    scene.server.on[NOTES] = lambda body: {"notes": [{"text": note, "cites": [min(own_lines(body))]}]}

    await morning(scene)

    assert [trait.text for trait in (await known(scene, MIO)).traits] == [note]
    assert "person" not in scene.server.of(NOTES)[0].prompt
    await scene.exchange(talk)
    assert WORDINGS[language].premise in scene.prompts()[-1]


async def test_important_evicted_an_appointment_lives_until_its_day(scene: Scene) -> None:
    day = (scene.clock() + timedelta(days=100)).date()
    await scene.exchange(f"I fly to Oslo on {day.isoformat()}, I always dread it.")
    scene.server.on[NOTES] = noting(Oslo=f"Flies to Oslo on {day.isoformat()}.")
    scene.server.on[TRAITS] = holding
    await morning(scene)

    while scene.clock().date() < day:
        scene.clock.pass_by(days=7)
        await scene.core.judging.hold_mornings()
        (trait,) = (await known(scene, MIO)).traits
        assert scene.clock().date() > day or trait.status is TraitStatus.ACTIVE
    scene.clock.pass_by(days=60)
    await scene.core.judging.hold_mornings()
    (trait,) = (await known(scene, MIO)).traits
    assert trait.status is TraitStatus.DORMANT


async def test_doctrine_one_refused_kiss_is_not_a_rule(scene: Scene) -> None:
    await scene.exchange(
        '*turns her head away from the kiss* "Not tonight. The boat leaves early, and I am cold and tired."'
    )
    texts = ("Always turns her head away from a kiss.", "Turned her head away from the kiss.")
    scene.server.on[NOTES] = lambda body: {"notes": [{"text": t, "cites": [min(own_lines(body))]} for t in texts]}
    rule = {"text": "Never wants a kiss, turns away.", "notes": [1], "until": ""}
    scene.server.on[TRAITS] = lambda _: {"new": [rule], "seen": [], "updates": []}

    await morning(scene)

    portrait = await known(scene, MIO)
    assert [note.text for note in portrait.notes] == ["Turned her head away from the kiss."]
    assert len(scene.server.of(TRAITS)) == 1
    assert portrait.traits == ()


async def test_a_nickname_that_the_bot_invented_is_nobodys_wish(scene: Scene) -> None:
    await scene.exchange("Good evening to you.", '"Evening, Captain Pepper. I shall call you that from now on."')
    scene.server.on[NOTES] = lambda body: {
        "notes": [{"text": "Wants to be called Captain Pepper.", "cites": [min(own_lines(body)), *other_lines(body)]}]
    }

    await morning(scene)

    assert (await known(scene, MIO)).notes == ()
    assert shown_notes(scene.server.of(NOTES)[0].body) == {}
