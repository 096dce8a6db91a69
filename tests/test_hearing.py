"""Where a message is written down is decided in the transaction that does it, whatever was read or remembered before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from bot import hearing
from bot.hearing import Heard
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import PlayerMessage
from tests.support.model_server import ModelServer
from tests.support.scene import CHANNEL, MIO, Scene, open_scene
from tests.test_message_costs import asked

ELSEWHERE = CHANNEL + 1


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", greeting=False) as opened:
        yield opened


async def hear(scene: Scene, text: str, *, channel: int = CHANNEL) -> Heard | None:
    scene.written += 1
    message = PlayerMessage(scene.written, channel, MIO, "Mio", text, scene.clock())
    return await scene.core.engine.hear(message)


async def raws(scene: Scene, session: Session) -> list[str]:
    return [turn.raw for turn in await scene.core.store.turns(session.id, 1, 99)]


async def begin(scene: Scene, channel: int) -> Session:
    return (await scene.core.engine.start_session(Place(1, channel), Scope(1, 9), "Rin", greeting=False)).session


def meanwhile(scene: Scene, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], Awaitable[object]]) -> None:
    """Let something happen once, as another process would do it, when a message was found to be in a story's channel."""
    running_session, waits = scene.core.store.running_session, [happens]

    async def read(channel_id: int) -> Session | None:
        session = await running_session(channel_id)
        while waits:
            await waits.pop()()
        return session

    monkeypatch.setattr(scene.core.store, "running_session", read)


async def test_five_messages_at_once_are_a_turn_each(scene: Scene) -> None:
    for _ in range(2):
        heard = await asyncio.gather(*(hear(scene, f"m{number}") for number in range(5)))
        assert [one.is_answered for one in heard if one] == [True] * 5

    turns = await scene.core.store.turns(scene.session.id, 1, 99)
    assert [turn.seq for turn in turns] == list(range(1, 11))
    assert sorted(turn.raw for turn in turns) == sorted(f"m{number}" for number in range(5) for _ in range(2))


async def test_a_message_where_nothing_is_played_is_in_no_writers_way(scene: Scene) -> None:
    with asked(scene) as statements:
        assert [await hear(scene, "Hello?", channel=ELSEWHERE) for _ in range(3)] == [None] * 3

    assert not any(statement.startswith("BEGIN IMMEDIATE") for statement in statements)


async def test_a_story_that_was_stopped_meanwhile_hears_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    meanwhile(scene, monkeypatch, lambda: scene.core.engine.stop_session(CHANNEL))

    assert await hear(scene, "Too late.") is None
    assert await raws(scene, scene.session) == []


async def test_a_story_that_was_removed_meanwhile_hears_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def remove() -> None:
        await scene.core.store.guild_left(1, scene.clock())
        assert await scene.core.store.remove_story_of(1, scene.session.id)

    meanwhile(scene, monkeypatch, remove)

    assert await hear(scene, "Too late.") is None
    assert await scene.core.store.session(scene.session.id) is None


async def test_a_channel_whose_story_was_stopped_is_like_any_other(scene: Scene) -> None:
    assert await hear(scene, "Heard.")
    await scene.core.engine.stop_session(CHANNEL)
    assert await hear(scene, "Not heard.") is None

    with asked(scene) as statements:
        assert await hear(scene, "Not heard either.") is None

    assert not any(statement.startswith("BEGIN IMMEDIATE") for statement in statements)
    assert await raws(scene, scene.session) == ["Heard."]


@pytest.mark.parametrize("heard_between", [False, True])
async def test_a_story_begun_anew_in_a_channel_hears_what_the_former_one_does_not(
    scene: Scene, heard_between: bool
) -> None:
    assert await hear(scene, "To the first.")
    await scene.core.engine.stop_session(CHANNEL)
    if heard_between:
        assert await hear(scene, "To nobody.") is None
    second = await begin(scene, CHANNEL)

    heard = await hear(scene, "To the second.")

    assert heard is not None
    assert heard.session.id == second.id
    assert await raws(scene, scene.session) == ["To the first."]
    assert await raws(scene, second) == ["To the second."]


async def test_a_message_heard_before_does_not_count_again_in_a_story_begun_anew(scene: Scene) -> None:
    assert await hear(scene, "Once.")
    await scene.core.engine.stop_session(CHANNEL)
    second = await begin(scene, CHANNEL)

    scene.written -= 1
    assert await hear(scene, "Once.") is None

    assert await raws(scene, second) == []


async def test_nothing_is_lost_where_more_stories_run_than_are_remembered(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hearing, "_MOST_REMEMBERED", 2)
    sessions = [scene.session, *[await begin(scene, CHANNEL + number) for number in (1, 2, 3)]]

    for text in ("a", "b"):
        for session in sessions:
            assert await hear(scene, text, channel=session.place.channel_id)

    assert [await raws(scene, session) for session in sessions] == [["a", "b"]] * 4


async def test_what_a_message_means_is_decided_by_what_holds_when_it_is_written_down(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def speak_as_somebody_else() -> None:
        await scene.core.personas.save(MIO, 1, name="Nao", description="A smuggler.")

    meanwhile(scene, monkeypatch, speak_as_somebody_else)
    assert await hear(scene, "Good evening.")

    (turn,) = await scene.core.store.turns(scene.session.id, 1, 99)
    assert turn.author.name == "Nao"
