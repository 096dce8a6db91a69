"""Who joins a story's cast, and what is refused before anything is written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.errors import NotFound, Refused
from bot.memory.prompt import Card
from bot.memory.story import Scope
from bot.memory.turns import PlayerMessage
from tests.support.model_server import ModelServer
from tests.support.scene import CHANNEL, MIO, Scene, open_scene

SCOPE = Scope(1, 9)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", greeting=False) as opened:
        yield opened


async def create(scene: Scene, name: str, *, description: str = "A smith.", first_message: str = "") -> None:
    await scene.core.characters.create(SCOPE, Card(name, description, first_message), "")


async def cast(scene: Scene) -> list[str]:
    return [m.character.card.name for m in (await scene.core.engine.session(scene.session.id)).cast]


async def test_a_greeting_is_filled_in_for_all_and_belongs_to_who_joins(scene: Scene) -> None:
    await create(scene, "Brom", first_message="“{{char}} bids {{user}} welcome.” `Too many.`")
    await create(scene, "Kai")

    joined = await scene.core.engine.casting.add(scene.session.id, SCOPE, "brom", greeting=0)
    silent = await scene.core.engine.casting.add(scene.session.id, SCOPE, "Kai", greeting=0)

    assert joined.greeting is not None
    assert joined.greeting.raw.startswith("“Brom bids the players welcome.”")
    assert joined.greeting.author.id == joined.member.character.id
    assert joined.member.since == joined.greeting.seq
    assert silent.greeting is None
    assert await scene.core.store.turns(scene.session.id, 1, 99) == (joined.greeting,)


async def test_a_cast_has_eight_at_most(scene: Scene) -> None:
    for number in range(8):
        await create(scene, f"Guard {number}")
    for number in range(7):
        await scene.core.engine.casting.add(scene.session.id, SCOPE, f"Guard {number}")

    with pytest.raises(Refused, match="cast-full"):
        await scene.core.engine.casting.add(scene.session.id, SCOPE, "Guard 7")
    await scene.core.engine.casting.remove(scene.session.id, "Guard 3")
    await scene.core.engine.casting.add(scene.session.id, SCOPE, "Guard 7")

    assert await cast(scene) == ["Rin", *(f"Guard {number}" for number in (0, 1, 2, 4, 5, 6, 7))]


@pytest.mark.parametrize(
    ("name", "greeting", "refused"),
    [
        ("Giant", None, "character-too-long"),
        ("Brom", 1, "character-no-such-greeting"),
        ("Rin", None, "cast-there-already"),
    ],
)
async def test_who_cannot_be_played_does_not_join(scene: Scene, name: str, greeting: int | None, refused: str) -> None:
    await create(scene, "Giant", description="A giant who counts sheep. " * 8_000)
    await create(scene, "Brom", first_message="“Hm.”")

    with pytest.raises(Refused, match=refused):
        await scene.core.engine.casting.add(scene.session.id, SCOPE, name, greeting=greeting)

    assert await cast(scene) == ["Rin"]


async def test_who_is_not_there_cannot_leave_and_nobody_joins_no_story(scene: Scene) -> None:
    await create(scene, "Brom")
    for name in ("Brom", "Nobody"):
        with pytest.raises(NotFound, match="cast-not-there"):
            await scene.core.engine.casting.remove(scene.session.id, name)
    with pytest.raises(NotFound, match="session-unknown"):
        await scene.core.engine.casting.add(scene.session.id + 1, SCOPE, "Brom")
    assert not await scene.core.engine.goes_on(scene.session.id + 1)


async def test_a_story_has_begun_once_a_player_wrote_in_it(scene: Scene) -> None:
    await create(scene, "Brom", first_message="“Hm.”")
    await scene.core.engine.casting.add(scene.session.id, SCOPE, "Brom", greeting=0)
    assert not await scene.core.engine.casting.has_begun(scene.session.id)

    await scene.hear("Hello.")

    assert await scene.core.engine.casting.has_begun(scene.session.id)


async def test_to_whose_words_a_message_replies_is_written_down_with_it(scene: Scene) -> None:
    await create(scene, "Brom")
    await create(scene, "Kai")
    for name in ("Brom", "Kai"):
        await scene.core.engine.casting.add(scene.session.id, SCOPE, name)
    await scene.exchange("Kai?", "“Here.”")
    (turn,) = (await scene.core.store.turns(scene.session.id, 1, 99))[-1:]
    (message_id,) = await scene.core.store.messages_of(turn.id)
    await scene.hear("Never mind.")
    await scene.reply()

    scene.written += 1
    at = scene.clock()
    await scene.core.engine.hear(PlayerMessage(scene.written, CHANNEL, MIO, "Mio", "And you?", at, reply_to=message_id))

    speaker = await scene.core.engine.casting.next_speaker(scene.session.id)
    assert speaker.character.card.name == "Kai"


async def test_nobody_goes_on_in_a_story_that_was_stopped_meanwhile(scene: Scene) -> None:
    await create(scene, "Brom")
    await scene.core.engine.casting.add(scene.session.id, SCOPE, "Brom")
    await scene.exchange("Rin?", "“Brom, tell them.”")
    assert await scene.core.engine.goes_on(scene.session.id)

    await scene.core.engine.stop_session(CHANNEL)

    assert not await scene.core.engine.goes_on(scene.session.id)
