"""What a character knows of the persons present, in the prompts of a story that is played."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.memory.people import Note, TraitStatus
from bot.memory.wording import WORDINGS
from tests.support.known import know, trait
from tests.support.model_server import Answer, Body, ModelServer
from tests.support.scene import ALEX, MIO, Scene, open_scene

HEADING = WORDINGS["en"].premise
PLAYERS = {21: "Ada", 22: "Ben", 23: "Chloe", 24: "Dov", 25: "Ezra"}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db") as opened:
        yield opened


async def _know(scene: Scene, player_id: int, *texts: str, first: int = 1, dormant: bool = False) -> None:
    now = scene.clock()
    rows = [
        trait(
            number, text, now=now, importance=0 if dormant else 3,
            dormant_at=now - timedelta(days=9) if dormant else None, days_ago=69 if dormant else 1,
        )
        for number, text in enumerate(texts, start=first)
    ]  # fmt: skip
    await know(scene.core.store, scene.session.character.id, player_id, traits_known=rows)


async def test_what_is_known_stands_before_the_newest_turn_once(scene: Scene) -> None:
    await _know(scene, MIO, "Runs along the river every morning.")

    for text in ("Good evening.", "It is late.", "Well."):
        await scene.exchange(text)

    prompt = scene.prompts()[-1]
    assert f"{HEADING}\n- Mio: Runs along the river every morning.\nMio: Good evening." in prompt
    assert prompt.count("river") == 1
    assert prompt.startswith(scene.prompts()[0].rstrip())


async def test_each_line_carries_its_person_and_nothing_is_told_of_who_is_not_there(scene: Scene) -> None:
    for place, (player_id, name) in enumerate(PLAYERS.items()):
        await _know(scene, player_id, f"Keeps the {name.lower()} lamp lit.", first=place * 10 + 1)
    await _know(scene, ALEX, "Collects old keys.", first=99)
    for player_id, name in PLAYERS.items():
        await scene.hear("Good evening.", by=player_id, name=name)
    await scene.reply()

    prompt = scene.prompts()[-1]
    for name in PLAYERS.values():
        assert f"- {name}: Keeps the {name.lower()} lamp lit." in prompt
    assert "keys" not in prompt


async def test_a_dormant_trait_comes_back_hazy_when_its_own_person_touches_it(scene: Scene) -> None:
    await _know(scene, MIO, "Plays the violin in a quartet.", dormant=True)
    await scene.exchange("Good evening.")
    await scene.exchange("I heard a violin quartet!", by=ALEX, name="Alex")
    assert "quartet." not in scene.prompts()[-1]

    await scene.exchange("I miss my violin.")

    assert "- Mio: Plays the violin in a quartet. (only vaguely remembered)" in scene.prompts()[-1]
    (portrait,) = await scene.core.store.portraits_of(MIO, 1)
    (revived,) = portrait.traits
    assert (revived.status, revived.importance, revived.hazy) == (TraitStatus.ACTIVE, 1, True)


async def test_a_note_is_told_for_a_week(scene: Scene) -> None:
    note = Note(1, "Has a sore knee.", scene.clock() - timedelta(days=6))
    old = Note(2, "Lost a glove.", scene.clock() - timedelta(days=8))
    await know(scene.core.store, scene.session.character.id, MIO, notes_known=[note, old])

    await scene.exchange("Good evening.")

    assert "- Mio: Has a sore knee." in scene.prompts()[-1]
    assert "glove" not in scene.prompts()[-1]


async def test_what_its_person_takes_away_leaves_the_prompts(scene: Scene) -> None:
    await _know(scene, MIO, "Runs along the river every morning.", "Is fond of pears.")
    await scene.exchange("Good evening.")
    assert "river" in scene.prompts()[-1]

    await scene.core.people.take_away(MIO, 1)
    await scene.exchange("And again.")

    assert "river" not in scene.prompts()[-1]
    assert scene.prompts()[-1].count("pears") == 1


async def test_what_is_taken_away_while_the_model_writes_does_not_come_back(scene: Scene, server: ModelServer) -> None:
    await _know(scene, MIO, "Runs along the river every morning.")

    async def taken_away(_: Body) -> Answer:
        await scene.core.people.take_away(MIO, 1)
        return '"Aye."'

    server.on_reply = taken_away
    await scene.hear("Good evening.")
    await scene.reply()
    server.on.clear()
    await scene.exchange("And again.")

    assert "river" in scene.prompts()[0]
    assert "river" not in scene.prompts()[-1]


async def test_it_can_be_switched_off(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "off.db", people_tokens=0) as scene:
        await _know(scene, MIO, "Runs along the river every morning.")
        await scene.exchange("Good evening.")
        assert "river" not in scene.prompts()[-1]


async def test_it_follows_the_language_of_the_talk(scene: Scene) -> None:
    await _know(scene, MIO, "毎朝川沿いを走る。")
    await scene.exchange("こんばんは。今日は寒いですね。", name="ミオ")
    assert f"{WORDINGS['ja'].premise}\n" in scene.prompts()[-1]
    assert "毎朝川沿いを走る。" in scene.prompts()[-1]
