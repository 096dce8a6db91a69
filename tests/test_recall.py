"""Recall in a story that is played: what left the prompt comes back in the tail, and the prompt still only grows."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ModelUnavailable
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.policy import Stretch
from bot.memory.story import Tail
from bot.memory.turns import Beat, BeatKind, Citation, PlayerMessage, Telling
from bot.store import Due
from tests.support.model_server import Answer, Body, ModelServer, Script
from tests.support.scene import ALEX, CHANNEL, MIO, Scene, open_scene

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


async def test_an_answered_prompt_stands_whole_in_the_next_one(scene: Scene) -> None:
    await _long_ago(scene)
    for number, what in enumerate(("silver key", "tide", "lighthouse stove", "fog", "key")):
        await scene.exchange(f"And the {what}? Number {number}.", f'*nods {number}* "Aye "')
        if number == 2:
            await scene.hear("Me too!", by=ALEX, name="Alex")

    prompts = scene.prompts()[-5:]
    assert prompts[-1].count("earlier:") == 2
    for before, after in itertools.pairwise(prompts):
        assert after.startswith(before.rstrip())


async def test_what_was_recalled_is_not_recalled_again(scene: Scene) -> None:
    await _long_ago(scene)
    for _ in range(3):
        await scene.exchange("Where is that silver key?")

    assert scene.prompts()[-1].count(KEY) == 1


async def _tails(scene: Scene) -> list[str]:
    turns = (await scene.core.store.snapshot(scene.session.id)).turns
    return [turn.tail for turn in turns if turn.tail]


async def test_a_tail_is_kept_with_its_reply_alone(scene: Scene, server: ModelServer) -> None:
    await _long_ago(scene)
    await scene.hear("Where is that silver key?")
    server.replies.append(Script("", finish_reason="content_filter"))
    with pytest.raises(ModelUnavailable):
        await scene.core.engine.reply(scene.session.id)
    assert await _tails(scene) == []

    await scene.reply()

    assert len(await _tails(scene)) == 1


async def test_a_fold_and_a_correction_drop_the_tails(scene: Scene) -> None:
    await _long_ago(scene)
    await scene.exchange("Where is that silver key?")
    await scene.core.moderation.correct(scene.session.id, Correction(CorrectionKind.RETRACT, 7, reason="No."), 1)
    assert await _tails(scene) == []

    await scene.exchange("And where is the silver key now?")
    assert len(await _tails(scene)) == 1
    await _fold(scene, 19)
    assert await _tails(scene) == []


async def test_a_reply_under_way_does_not_keep_what_was_taken_back_meanwhile(scene: Scene, server: ModelServer) -> None:
    message = await scene.hear("My sister Odile hid the zeppelin.")
    await _long_ago(scene)

    async def taken_back(_: Body) -> Answer:
        await scene.core.engine.messages_deleted([message])
        return '"Did she?"'

    server.on_reply = taken_back
    await scene.hear("Where did Odile hide the zeppelin?")
    await scene.reply()

    assert "sister" in scene.prompts()[-1]
    assert await _tails(scene) == []
    await scene.exchange("Really?")
    assert "sister" not in scene.prompts()[-1]


async def test_an_edit_of_a_raw_turn_leaves_the_tails(scene: Scene) -> None:
    await _long_ago(scene)
    await scene.exchange("Where is that silver key?")
    message = await scene.hear("Typso.")
    await scene.core.engine.message_edited(message, "Typo.")
    assert len(await _tails(scene)) == 1


async def test_tails_are_counted(scene: Scene) -> None:
    await _long_ago(scene)
    await scene.exchange("Where is that silver key?")
    snapshot = await scene.core.store.snapshot(scene.session.id)
    asked: list[int] = []

    def crosses(raw: int, _: int) -> bool:
        asked.append(raw)
        return False

    message = PlayerMessage(77, CHANNEL, MIO, "Mio", "Hm.", scene.clock())
    await scene.core.store.add_player_turn(scene.session.id, message, (), 0, Due(crosses, scene.clock()))

    tails = sum(turn.tail_tokens for turn in snapshot.turns)
    assert tails > 0
    assert asked == [sum(turn.tokens for turn in snapshot.turns) + tails]


async def test_a_prompt_full_of_tails_recalls_only_what_is_asked_for(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", fold_room=200) as scene:
        await _long_ago(scene)
        await scene.exchange("So, that silver key and the lighthouse stove.")
        assert scene.prompts()[-1].count("earlier:") == 1
        (told,) = (turn for turn in (await scene.core.store.snapshot(scene.session.id)).turns if turn.tail)
        assert told.tail_tokens < 50
        kept = Tail(
            told.id, told.tail + " " * 200, 51, (await scene.core.store.snapshot(scene.session.id)).session.epoch
        )
        await scene.hear("My boots and the fog again.")
        begun = await scene.core.store.begin_reply(scene.session.id, scene.clock())
        assert begun is not None
        due = Due(lambda raw, memory: False, scene.clock())
        beats = (Beat(BeatKind.SPEECH, "Aye.", "Rin"),)
        await scene.core.store.finish_reply(begun.turn.id, Telling("Aye.", beats, 2, "stop"), due, kept)

        await scene.exchange("Oh, her soup and my boots.")
        assert scene.prompts()[-1].count("earlier:") == 1
        await scene.exchange("What was it with her soup and my boots?")
        assert scene.prompts()[-1].count("earlier:") >= 2
