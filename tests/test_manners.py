"""How long an answer waits, and that none is given twice."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import NotFound, Refused
from bot.manners import Limit, Reason, Wait
from bot.memory.manners import Marks, Mode, SessionManners
from bot.memory.story import Begun
from bot.memory.turns import PlayerMessage
from tests.support.model_server import ModelServer
from tests.support.scene import ALEX, CHANNEL, MIO, Scene, open_scene

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    limits: dict[str, Any] = {"player_replies_per_minute": 2, "guild_replies_per_minute": 3}
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db", greeting=False, **limits) as opened:
        yield opened


async def admit(scene: Scene) -> Wait | None:
    return scene.core.manners.admit(*await scene.core.manners.waiting(scene.session.id))


async def say(scene: Scene, text: str, *, by: int = MIO, name: str = "Mio") -> None:
    """A message at this moment."""
    scene.written += 1
    await scene.core.engine.hear(PlayerMessage(scene.written, CHANNEL, by, name, text, scene.clock()))


async def exchange(scene: Scene, *, by: int = MIO, name: str = "Mio") -> None:
    await say(scene, "Hello.", by=by, name=name)
    assert await admit(scene) is None
    scene.server.replies.append('"Aye."')
    await scene.reply()


async def test_where_nobody_waits_nothing_is_counted(scene: Scene) -> None:
    for _ in range(5):
        assert await admit(scene) is None
    await exchange(scene)
    await exchange(scene)
    await say(scene, "Rin?")
    assert await admit(scene) == Wait(60, Reason.PLAYER, ("Mio",))


async def test_a_player_waits_until_the_minute_has_slid_far_enough(scene: Scene) -> None:
    await exchange(scene)
    scene.clock.pass_by(seconds=20)
    await exchange(scene)
    scene.clock.pass_by(seconds=10)
    await say(scene, "Rin?")
    assert await admit(scene) == Wait(30, Reason.PLAYER, ("Mio",))
    scene.clock.pass_by(seconds=29)
    assert await admit(scene) == Wait(1, Reason.PLAYER, ("Mio",))
    scene.clock.pass_by(seconds=1)
    assert await admit(scene) is None


async def test_whose_turn_it_is_takes_the_others_along_until_the_guild_has_to_wait(scene: Scene) -> None:
    await exchange(scene)
    await exchange(scene)
    await say(scene, "And I?")
    assert await admit(scene) == Wait(60, Reason.PLAYER, ("Mio",))
    await exchange(scene, by=ALEX, name="Alex")
    await say(scene, "And I?", by=ALEX, name="Alex")
    assert await admit(scene) == Wait(60, Reason.GUILD, ("Alex",))


async def test_what_is_asked_for_without_a_message_counts_too(scene: Scene) -> None:
    scene.core.manners.spend(scene.session, MIO)
    await exchange(scene)
    scene.clock.pass_by(seconds=20)
    with pytest.raises(Refused, match="manners-spent-player") as refused:
        scene.core.manners.spend(scene.session, MIO)
    assert refused.value.fields == {"seconds": 40}
    await say(scene, "Rin?")
    assert await admit(scene) == Wait(40, Reason.PLAYER, ("Mio",))

    scene.core.manners.spend(scene.session, ALEX)
    with pytest.raises(Refused, match="manners-spent-guild"):
        scene.core.manners.spend(scene.session, ALEX)


async def test_a_pause_counts_from_the_last_message_that_waits(scene: Scene) -> None:
    await scene.core.manners.change(scene.session.id, mode=Mode.PAUSE, pause_seconds=30)
    await say(scene, "One.")
    scene.clock.pass_by(seconds=20)
    await say(scene, "Two.", by=ALEX, name="Alex")
    scene.clock.pass_by(seconds=5)
    await say(scene, "((brb))")
    assert await admit(scene) == Wait(25, Reason.PAUSE, ("Mio", "Alex"))
    scene.clock.pass_by(seconds=25)
    assert await admit(scene) is None


async def test_what_is_set_is_kept_and_the_rest_stays(scene: Scene) -> None:
    manners = scene.core.manners
    assert await manners.change(scene.session.id) == SessionManners()
    assert await manners.change(scene.session.id, marks=Marks.NONE) == SessionManners(marks=Marks.NONE)
    chosen = await manners.change(scene.session.id, mode=Mode.SPOKEN_TO, pause_seconds=7)
    assert chosen == SessionManners(Mode.SPOKEN_TO, 7, Marks.NONE)
    assert (await scene.core.engine.session(scene.session.id)).manners == chosen
    with pytest.raises(NotFound):
        await manners.change(99, mode=Mode.EVERY)


async def test_what_arrives_just_as_a_reply_begins_is_answered_by_the_next_alone(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_reply = scene.core.store.begin_reply

    async def interrupting(*given: Any, **named: Any) -> Begun | None:
        begun = await begin_reply(*given, **named)
        if begun is not None and len(scene.server.of("reply")) == 0:
            await say(scene, "Two.")
        return begun

    monkeypatch.setattr(scene.core.store, "begin_reply", interrupting)
    scene.server.replies.extend(['"First."', '"Second."'])
    await say(scene, "One.")

    await scene.reply()
    await scene.reply()

    first, second = scene.prompts()
    assert "Two." not in first
    assert second.endswith('<|assistant|>"First."<|end|><|user|>Mio: Two.<|end|><|assistant|>')
    assert await scene.core.engine.reply(scene.session.id) is None


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(1, 2), st.integers(0, 40)), max_size=60))
def test_no_minute_holds_more_than_the_limit_and_who_waits_as_told_is_free(
    most: int, steps: list[tuple[int, int]]
) -> None:
    limit, now = Limit(most), NOON
    counted: dict[int, list[datetime]] = {1: [], 2: []}
    for key, seconds in steps:
        now += timedelta(seconds=seconds)
        now = max(now, limit.free_at(key, now))
        assert limit.free_at(key, now) == now
        limit.count(key, now)
        counted[key].append(now)
    for times in counted.values():
        assert all(later - first >= MINUTE for first, later in zip(times, times[most:], strict=False))


def test_without_a_limit_nothing_waits_and_what_is_past_is_forgotten() -> None:
    free, limit = Limit(0), Limit(2)
    for key in range(100):
        free.count(key, NOON)
        limit.count(key, NOON)
    assert free.free_at(5, NOON) == NOON
    limit.count(0, NOON + MINUTE)
    assert limit._times.keys() == {0}
