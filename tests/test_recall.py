"""Recall in a story that is played: what left the prompt comes back in the tail, and the prompt still only grows."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.policy import Stretch
from bot.memory.turns import Citation
from tests.support.model_server import ModelServer
from tests.support.scene import ALEX, Scene, open_scene

KEY = "The silver key hangs behind the stove of the lighthouse."
TALK = ("the tide", "my boots", "her soup", "that gull", "his hat", "these ropes", "our lamp", "the fog")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db") as opened:
        yield opened


async def _fold(scene: Scene, last: int, *found: NewMemory) -> None:
    """One more chapter, up to the turn ``last``."""
    store, session_id = scene.core.store, scene.session.id
    first = (await store.memory(session_id)).folded_to + 1
    chapter = await store.commit_chapter(
        None,
        session_id,
        Stretch(first, last),
        {turn.seq: turn.revision for turn in await store.turns(session_id, first, last)},
        found,
        {},
        by="fold",
        at=scene.clock(),
        render=scene.core.renderer.for_session(scene.session, scene.core.engine.budgets),
    )
    assert chapter is not None


async def _long_ago(scene: Scene, reply: str = f"*{KEY}*") -> None:
    """Something is said, much else follows, and a chapter covers it all without a word of it."""
    await scene.exchange("Good evening.", reply)
    for number, what in enumerate(TALK):
        await scene.exchange(f"I looked at {what}, again.", f'"So did I, {number} times."')
    scene.clock.pass_by(days=3)
    await _fold(scene, 17, NewMemory(Content(MemoryKind.EVENT, "They spent an evening."), (Citation(2, 1),)))


async def test_what_left_the_prompt_comes_back_when_it_is_asked_for(scene: Scene) -> None:
    await _long_ago(scene)

    await scene.exchange("Where is that silver key?")

    prompt = scene.prompts()[-1]
    line = f"[2026-03-01, earlier: Rin: *{KEY}*]"
    assert f"{line}\n[3 days have passed since the last message.]\nMio: Where is that silver key?" in prompt
    assert prompt.count(KEY) == 1


@pytest.mark.parametrize("question", ["Who is Octavia?", "And then?", "Does Octavia like Ferdinand?"])
async def test_who_was_never_mentioned_is_not_recalled(scene: Scene, question: str) -> None:
    await _long_ago(scene)

    await scene.exchange(question)

    assert "earlier:" not in scene.prompts()[-1]


async def test_what_stands_in_the_prompt_is_not_repeated(scene: Scene) -> None:
    await scene.exchange("Good evening.", f"*{KEY}*")
    await scene.exchange("Where is that silver key?")
    assert "earlier:" not in scene.prompts()[-1]

    await _fold(scene, 5, NewMemory(Content(MemoryKind.FACT, KEY), (Citation(3, 1),)))
    await scene.exchange("Where is that silver key?")

    assert scene.prompts()[-1].count(KEY) == 1
    assert KEY in scene.prompts()[-1].split("[Understood.]")[0]


async def test_a_thought_is_never_recalled(scene: Scene) -> None:
    beats = [{"kind": "thought", "speaker": "Rin", "text": "The silver key is in my shoe."},
             {"kind": "speech", "speaker": "Rin", "text": "I never saw any key."}]  # fmt: skip
    await _long_ago(scene, json.dumps({"beats": beats}))

    await scene.exchange("Is the silver key in your shoe, or any key?")

    assert "shoe." not in scene.prompts()[-1]


async def test_a_deleted_message_is_not_recalled(scene: Scene) -> None:
    message = await scene.hear("My sister Odile hid the zeppelin.")
    await _long_ago(scene)
    question = "Where did Odile hide the zeppelin?"
    await scene.exchange(question)
    assert "earlier: Mio: “My sister Odile hid the zeppelin.”]" in scene.prompts()[-1]

    await scene.core.engine.messages_deleted([message])
    await scene.exchange(question)

    assert "sister" not in scene.prompts()[-1]


async def test_recall_is_bounded_and_can_be_switched_off(server: ModelServer, tmp_path: Path) -> None:
    counts = []
    settings: tuple[tuple[str, dict[str, Any]], ...] = (
        ("on", {}),
        ("one", {"recall_lines": 1}),
        ("off", {"recall_tokens": 0}),
    )
    for name, changes in settings:
        async with open_scene(server, tmp_path / f"{name}.db", **changes) as scene:
            for place in ("attic", "barn of Odile", "chapel by night", "dairy, burning", "old forge"):
                await scene.exchange(f"A brass lantern is in the {place}.")
            for what in TALK * 6:
                await scene.exchange(f"I looked at {what}, again.")
            await _fold(scene, 60, NewMemory(Content(MemoryKind.EVENT, "They talked."), (Citation(2, 1),)))
            await scene.exchange("Where did I put the brass lantern?")
            counts.append(scene.prompts()[-1].count("earlier:"))

    assert counts == [4, 1, 0]


async def test_prompts_share_all_but_the_tail(scene: Scene) -> None:
    await _long_ago(scene)
    for number, what in enumerate(("silver key", "tide", "lighthouse stove", "fog", "key")):
        await scene.exchange(f"And the {what}? Number {number}.", f'*nods {number}* "Aye "')
        if number == 2:
            await scene.hear("Me too!", by=ALEX, name="Alex")

    prompts = scene.prompts()[-5:]
    assert sum("earlier:" in prompt for prompt in prompts) >= 3
    for before, after in itertools.pairwise(prompts):
        newest = before.rindex("[", 0, before.index("earlier:")) if "earlier:" in before else before.rindex("Mio: And")
        assert after.startswith(before[:newest])
        assert newest > len(before) / 2


async def test_another_story_of_the_same_guild_recalls_nothing_of_it(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db") as scene:
        await _long_ago(scene)
        await scene.core.engine.stop_session(scene.session.place.channel_id)
        started = await scene.core.engine.start_session(
            scene.session.place, scene.session.character.scope, "Rin", greeting=False
        )
        scene.session = started.session
        await scene.exchange("Where is that silver key?")

        assert "lighthouse" not in scene.prompts()[-1]
        assert await scene.core.engine.search(started.session.id, "lighthouse") == ()


async def test_the_search_of_people_finds_memories_and_turns_in_and_out_of_the_prompt(scene: Scene) -> None:
    await _long_ago(scene)
    await scene.exchange("The evening is long.")

    found = await scene.core.engine.search(scene.session.id, "evening")

    assert [line.memory.number if line.memory else -(line.turn.seq if line.turn else 0) for line in found] == [
        -20,
        1,
        -2,
    ]
    assert all(line.message_id for line in found if line.turn)
    assert found[0].at - found[1].at > timedelta(days=2)
    assert await scene.core.engine.search(scene.session.id, "the") == ()
