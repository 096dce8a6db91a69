"""A story told otherwise: what was swiped away, taken back or rewound never happened, until somebody goes back to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.engine import Reply
from bot.errors import ModelUnavailable, NotFound, Refused
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory
from bot.memory.people import Judgement, JudgementKind, Note
from bot.memory.policy import Stretch
from bot.memory.story import FoldState, Head
from bot.memory.turns import Citation, TurnState
from bot.rewinding import Told
from tests.support.known import know, sources, trait
from tests.support.model_server import ModelServer, Script
from tests.support.scene import ALEX, CHANNEL, MIO, Scene, open_scene

FOLDS_AT_ONCE: dict[str, Any] = {
    "fold_trigger": 3, "fold_ceiling": 2_000, "fold_floor": 1, "fold_room": 1, "fold_delay_seconds": 0,
}  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db", greeting=False) as opened:
        yield opened


@pytest.fixture
async def folding(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db", greeting=False, **FOLDS_AT_ONCE) as opened:
        yield opened


async def raws(scene: Scene) -> list[str]:
    return [turn.raw for turn in await scene.core.store.turns(scene.session.id, 1, 1_000)]


async def retold(scene: Scene, reply: Reply, text: str) -> Reply:
    scene.server.replies.append(text)
    return await scene.core.engine.retell(scene.session.id, reply.turn.id)


async def told(scene: Scene, reply: Reply) -> Told:
    return await scene.core.rewinding.turn(reply.turn.id)


async def fold(scene: Scene, *lines: tuple[str, str]) -> None:
    """Fold all but the newest message; each line is an event with the beat it cites."""
    events = [{"kind": "event", "text": t, "actual": "", "who": "", "to": "", "cites": [c]} for t, c in lines]
    scene.server.on_fold = lambda _: {"memories": events, "opened": [], "resolved": []}
    await scene.hear("…")
    await scene.core.folder.run_due()


async def in_use(scene: Scene) -> list[str]:
    memory = await scene.core.store.memory(scene.session.id)
    return [m.content.text for m in memory.memories if m.is_active]


# Telling anew


async def test_another_telling_answers_the_same_prompt_and_stands_in_the_next(scene: Scene) -> None:
    reply = await scene.exchange("Are you hurt?", "*Her arm bleeds.*")

    anew = await retold(scene, reply, "*Her knee bleeds.*")

    first, second = scene.prompts()
    assert first == second
    assert (anew.turn.id, anew.turn.seq, anew.turn.revision) == (reply.turn.id, reply.turn.seq, 2)
    assert anew.text == "*Her knee bleeds.*"
    await scene.exchange("Sit down.")
    assert "knee" in scene.prompts()[-1]
    assert "arm" not in scene.prompts()[-1]
    assert scene.prompts()[-1].startswith(first)


async def test_every_telling_stays_reachable_byte_for_byte(scene: Scene) -> None:
    reply = await scene.exchange("Are you hurt?", "*Her  arm bleeds.* ")
    for text in ("*Her knee.*", "*Her brow.*"):
        await retold(scene, reply, text)

    back = await scene.core.engine.choose_telling(scene.session.id, reply.turn.id, 1)

    found = await told(scene, reply)
    assert back.turn.raw == "*Her  arm bleeds.* "
    assert (found.number, [telling.raw for telling in found.tellings]) == (
        1,
        ["*Her  arm bleeds.* ", "*Her knee.*", "*Her brow.*"],
    )
    assert found.reply.text == back.text
    assert await raws(scene) == ["Are you hurt?", "*Her  arm bleeds.* "]


async def test_search_finds_the_telling_that_stands(scene: Scene) -> None:
    reply = await scene.exchange("What do you see?", "*A heron rises.*")
    await retold(scene, reply, "*A walrus sings.*")

    assert await scene.core.engine.search(scene.session.id, "heron") == ()
    assert len(await scene.core.engine.search(scene.session.id, "walrus")) == 1


async def test_only_the_newest_reply_can_be_told_anew(scene: Scene) -> None:
    reply = await scene.exchange("One")
    await retold(scene, reply, "Two.")
    await scene.hear("It went on.")
    asked = len(scene.prompts())

    with pytest.raises(Refused, match="retell-not-newest"):
        await scene.core.engine.retell(scene.session.id, reply.turn.id)
    with pytest.raises(Refused, match="retell-not-newest"):
        await scene.core.engine.choose_telling(scene.session.id, reply.turn.id, 1)

    assert len(scene.prompts()) == asked
    assert await raws(scene) == ["One", "Two.", "It went on."]


@pytest.mark.parametrize("number", [0, 3])
async def test_there_is_no_telling_with_another_number(scene: Scene, number: int) -> None:
    reply = await scene.exchange("One")
    await retold(scene, reply, "Two.")

    with pytest.raises(Refused):
        await scene.core.engine.choose_telling(scene.session.id, reply.turn.id, number)
    assert (await told(scene, reply)).number == 2


async def test_what_a_telling_was_reminded_of_stays_where_it_stood(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False, people_tokens=300) as scene:
        await scene.exchange("Good day.")
        reply = await scene.exchange("I run again, shall we run?")
        runs = trait(1, "runs every morning", now=scene.clock(), importance=4)
        await know(scene.core.store, scene.session.character.id, MIO, traits_known=[runs])

        await retold(scene, reply, "You run every morning!")
        await scene.exchange("Indeed.")

        *_, told_anew, following = scene.prompts()
        assert "runs every morning" in told_anew
        assert following.startswith(told_anew)


async def test_a_stopped_story_is_not_told_anew(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    await scene.core.engine.stop_session(CHANNEL)

    with pytest.raises(Refused, match="retell-paused"):
        await scene.core.engine.retell(scene.session.id, reply.turn.id)
    assert len(scene.prompts()) == 1


async def test_a_reply_that_stood_is_not_lost_with_its_retelling_when_discord_refuses(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    shown = await scene.core.engine.messages_of(reply.turn.id)
    await scene.core.engine.begun(reply.turn.id, CHANNEL, shown)  # the process ends in the midst of a retelling

    recovery = await scene.core.engine.recover()
    assert [undelivered.text for undelivered in recovery.undelivered] == ["First."]
    await scene.core.engine.undeliverable(reply.turn.id)

    assert await raws(scene) == ["One", "First."]
    await retold(scene, reply, "Second.")
    assert [telling.raw for telling in (await told(scene, reply)).tellings] == ["First.", "Second."]


async def test_a_reply_that_came_back_is_not_lost_when_discord_refuses_its_second_message(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    branch = await scene.core.rewinding.take_back(await told(scene, reply), by=MIO)
    await scene.core.engine.delivered(reply.turn.id, CHANNEL, [])
    await scene.core.rewinding.take_up(scene.session.id, branch.id, by=MIO)
    await scene.core.engine.begun(reply.turn.id, CHANNEL, [7_001])

    await scene.core.engine.undeliverable(reply.turn.id)

    assert await raws(scene) == ["One", "First."]


async def test_a_telling_that_fails_leaves_the_story_as_it_was(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    scene.server.replies.append(Script.failure(401))

    with pytest.raises(ModelUnavailable):
        await scene.core.engine.retell(scene.session.id, reply.turn.id)

    assert await raws(scene) == ["One", "First."]
    assert len((await told(scene, reply)).tellings) == 1


async def test_a_message_that_arrives_while_a_reply_is_told_anew_wins(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")

    async def interrupted(_: object) -> str:
        await scene.hear("Wait!")
        return "Second."

    scene.server.on_reply = interrupted
    with pytest.raises(Refused, match="retell-not-newest"):
        await scene.core.engine.retell(scene.session.id, reply.turn.id)

    assert await raws(scene) == ["One", "First.", "Wait!"]


async def test_two_who_retell_at_once_each_get_a_telling(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    scene.server.replies.extend(["Second.", "Third."])

    await asyncio.gather(*(scene.core.engine.retell(scene.session.id, reply.turn.id) for _ in range(2)))

    found = await told(scene, reply)
    assert (found.number, {telling.raw for telling in found.tellings}) == (3, {"First.", "Second.", "Third."})


async def test_the_words_of_a_deleted_reply_leave_with_all_its_tellings(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    await retold(scene, reply, "Second.")
    await scene.core.engine.messages_deleted(await scene.core.engine.messages_of(reply.turn.id))

    number, tellings = await scene.core.store.tellings(reply.turn.id)
    assert [telling.raw for telling in tellings][number - 1 :] in ([""], [])
    assert "Second." not in str(tellings)
    assert "First." not in str(tellings)


async def test_the_character_goes_on_although_nobody_waits(scene: Scene) -> None:
    await scene.exchange("One", "First.")
    scene.server.replies.append("And then.")

    assert await scene.core.engine.reply(scene.session.id) is None
    reply = await scene.core.engine.reply(scene.session.id, unasked=True)

    assert reply is not None
    assert await raws(scene) == ["One", "First.", "And then."]
    assert scene.prompts()[1].startswith(scene.prompts()[0])


async def test_reroll_the_chapter_knows_only_the_kept_wound(folding: Scene) -> None:
    scene = folding
    reply = await scene.exchange("Are you hurt?", "*Her arm bleeds.*")
    for text in ("*Her knee bleeds.*", "*Her brow bleeds.*"):
        await retold(scene, reply, text)
    await scene.core.engine.choose_telling(scene.session.id, reply.turn.id, 2)

    await fold(scene, ("Rin was hurt at the knee.", "2.1"))

    (asked,) = scene.server.of("fold")
    assert "knee" in asked.prompt
    assert "arm bleeds" not in asked.prompt
    assert "brow" not in asked.prompt
    assert await in_use(scene) == ["Rin was hurt at the knee."]
    await scene.reply()
    assert "arm bleeds" not in scene.prompts()[-1]
    assert "brow" not in scene.prompts()[-1]


async def test_reroll_a_fold_that_read_another_telling_is_not_committed(folding: Scene) -> None:
    scene = folding
    reply = await scene.exchange("Are you hurt?", "*Her arm bleeds.*")
    read = {turn.seq: turn.revision for turn in await scene.core.store.turns(scene.session.id, 1, 2)}
    await retold(scene, reply, "*Her knee bleeds.*")
    lie = NewMemory(Content(MemoryKind.EVENT, "Rin was hurt at the arm."), (Citation(2, 1),))

    async def commit(revisions: dict[int, int]) -> object:
        return await scene.core.store.commit_chapter(
            None, scene.session.id, Stretch(1, 2), revisions, (lie,), {},
            by="fold", at=scene.clock(), render=lambda _: Head("", 0),
        )  # fmt: skip

    assert await commit(read) is None
    assert await in_use(scene) == []
    assert await commit({**read, 2: 2}) is not None


async def test_phantom_history_what_discord_refused_is_in_no_chapter_either(folding: Scene) -> None:
    scene = folding
    scene.server.replies.append("*A ghost ship.*")
    await scene.hear("What is there?")
    reply = await scene.core.engine.reply(scene.session.id)
    assert reply is not None
    await scene.core.engine.undeliverable(reply.turn.id)
    await scene.hear("Hello? Is anybody there?")

    await fold(scene, ("A ghost ship came.", "2.1"), ("Mio asked what was there.", "1.1"))

    assert all("ghost" not in asked.prompt for asked in scene.server.of("fold"))
    assert await in_use(scene) in (["Mio asked what was there."], [])
    await scene.reply()
    assert "ghost" not in scene.prompts()[-1]
    with pytest.raises(Refused):
        await scene.core.engine.retell(scene.session.id, reply.turn.id)


# Taking back, rewinding, going back


async def message_of(scene: Scene, seq: int) -> Told:
    (turn,) = await scene.core.store.turns(scene.session.id, seq, seq)
    return await scene.core.rewinding.turn(turn.id)


async def test_taking_back_removes_the_last_exchange(scene: Scene) -> None:
    await scene.exchange("One", "First.")
    await scene.hear("Two")
    await scene.hear("Two and a half", by=ALEX, name="Alex")
    scene.server.replies.append("Second.")
    second = await scene.reply()

    branch = await scene.core.rewinding.take_back(await told(scene, second), by=MIO)

    assert await raws(scene) == ["One", "First."]
    assert [turn.raw for turn in branch.turns] == ["Two", "Two and a half", "Second."]
    await scene.exchange("Three")
    assert "Two" not in scene.prompts()[-1]
    assert "Second." not in scene.prompts()[-1]


async def test_a_reply_that_followed_a_reply_is_taken_back_alone(scene: Scene) -> None:
    await scene.exchange("One", "First.")
    more = await scene.core.engine.reply(scene.session.id, unasked=True)
    assert more is not None
    await scene.core.rewinding.take_back(await told(scene, more), by=MIO)
    assert await raws(scene) == ["One", "First."]


async def test_only_the_last_exchange_is_taken_back(scene: Scene) -> None:
    first = await scene.exchange("One", "First.")
    await scene.exchange("Two", "Second.")

    with pytest.raises(Refused, match="retell-not-last-exchange"):
        await scene.core.rewinding.take_back(await told(scene, first), by=MIO)
    assert len(await raws(scene)) == 4


async def test_a_rewound_story_is_told_as_if_the_rest_never_happened(folding: Scene) -> None:
    scene = folding
    await scene.exchange("I found a silver key.", "*She nods.*")
    await scene.exchange("Then a dragon came.", "*A dragon roars.*")
    await fold(scene, ("Mio found a silver key.", "1.1"), ("A dragon came.", "3.1"))
    assert "dragon" in (await scene.core.store.snapshot(scene.session.id)).memory_text

    await scene.core.rewinding.rewind(await message_of(scene, 2), by=MIO)
    await scene.exchange("Do you remember the dragon, the key, the roar?")

    assert await in_use(scene) == []
    prompt = scene.prompts()[-1].partition("Do you remember")[0]
    assert "silver key" in prompt
    assert "dragon" not in prompt
    assert "roars" not in prompt
    assert [found.turn.raw for found in await scene.core.engine.search(scene.session.id, "dragon") if found.turn] == [
        "Do you remember the dragon, the key, the roar?"
    ]


async def test_going_back_gives_the_story_its_prompt_again(folding: Scene) -> None:
    scene = folding
    await scene.exchange("I found a silver key.", "*She nods.*")
    await scene.exchange("Then a dragon came.", "*A dragon roars.*")
    await fold(scene, ("Mio found a silver key.", "1.1"), ("A dragon came.", "3.1"))
    before = await scene.core.store.snapshot(scene.session.id)
    branch = await scene.core.rewinding.rewind(await message_of(scene, 2), by=MIO)
    await scene.exchange("Otherwise.", "*Fog.*")
    (left,) = await scene.core.rewinding.branches(scene.session.id)
    assert left.id == branch.id

    taken = await scene.core.rewinding.take_up(scene.session.id, branch.id, by=ALEX)

    after = await scene.core.store.snapshot(scene.session.id)
    assert (after.memory_text, [(t.seq, t.raw) for t in after.turns]) == (
        before.memory_text,
        [(t.seq, t.raw) for t in before.turns],
    )
    assert taken.unseen == ()
    (other,) = await scene.core.rewinding.branches(scene.session.id)
    assert ([turn.raw for turn in other.turns], other.by) == (["Otherwise.", "*Fog.*"], ALEX)


async def test_a_reply_whose_messages_are_gone_is_shown_again(scene: Scene) -> None:
    reply = await scene.exchange("One", "First.")
    branch = await scene.core.rewinding.take_back(await told(scene, reply), by=MIO)
    await scene.core.engine.delivered(reply.turn.id, CHANNEL, [])

    taken = await scene.core.rewinding.take_up(scene.session.id, branch.id, by=MIO)

    assert [unseen.reply.text for unseen in taken.unseen] == ["First."]


async def test_a_fold_that_runs_while_the_story_is_rewound_knows_only_what_is_left(folding: Scene) -> None:
    scene = folding
    await scene.exchange("A key.", "*She nods.*")
    await scene.exchange("A dragon.", "*It roars.*")
    seen: list[str] = []

    async def rewound(body: object) -> dict[str, Any]:
        seen.append(str(body))
        if len(seen) == 1:
            await scene.core.rewinding.rewind(await message_of(scene, 1), by=MIO)
        return {"memories": [], "opened": [], "resolved": []}

    scene.server.on_fold = rewound
    await scene.hear("…")
    await scene.core.folder.run_due()

    memory = await scene.core.store.memory(scene.session.id)
    assert seen
    assert "dragon" in seen[0]
    assert memory.chapters == ()
    assert await raws(scene) == ["A key."]


async def test_a_loose_end_of_a_way_that_was_left_can_be_opened_again(folding: Scene) -> None:
    scene = folding
    scene.server.on_fold = lambda _: {
        "memories": [], "opened": [{"text": "Who rang the bell at midnight?", "cites": ["1.1"]}], "resolved": [],
    }  # fmt: skip
    await scene.exchange("Who rang the bell at midnight?", "*She shrugs.*")
    await scene.hear("…")
    await scene.core.folder.run_due()
    assert await in_use(scene) == ["Who rang the bell at midnight?"]

    await scene.core.rewinding.rewind(await message_of(scene, 1), by=MIO)
    assert await in_use(scene) == []
    await scene.exchange("Well, who was it?", "*She hides.*")
    await scene.hear("…")
    await scene.core.folder.run_due()

    assert await in_use(scene) == ["Who rang the bell at midnight?"]


async def test_a_memory_out_of_sight_cannot_be_corrected(folding: Scene) -> None:
    scene = folding
    await scene.exchange("A key.", "*She nods.*")
    await fold(scene, ("Mio found a key.", "1.1"))
    branch = await scene.core.rewinding.rewind(await message_of(scene, 1), by=MIO)
    correction = Correction(CorrectionKind.RETRACT, 7, "no")

    with pytest.raises(Refused, match="rewind-memory-aside"):
        await scene.core.moderation.correct(scene.session.id, correction, 1)
    await scene.core.rewinding.take_up(scene.session.id, branch.id, by=MIO)
    changed = await scene.core.moderation.correct(scene.session.id, correction, 1)
    assert changed.after.status is MemoryStatus.RETRACTED


async def test_what_cannot_be_rewound_says_why(scene: Scene) -> None:
    first = await scene.exchange("One", "First.")
    second = await scene.exchange("Two", "Second.")

    with pytest.raises(Refused, match="rewind-nothing-follows"):
        await scene.core.rewinding.rewind(await told(scene, second), by=MIO)
    aside = await told(scene, second)
    await scene.core.rewinding.rewind(await told(scene, first), by=MIO)
    with pytest.raises(Refused, match="rewind-out-of-sight"):
        await scene.core.rewinding.rewind(aside, by=MIO)
    with pytest.raises(NotFound, match="rewind-no-branch"):
        await scene.core.rewinding.take_up(scene.session.id, 99, by=MIO)
    with pytest.raises(NotFound, match="retell-no-turn"):
        await scene.core.rewinding.told(4_711)
    assert (await told(scene, second)).turn.state is TurnState.ASIDE


async def test_a_remark_out_of_character_is_taken_back_with_what_it_follows(scene: Scene) -> None:
    await scene.exchange("One", "First.")
    reply = await scene.exchange("Two", "Second.")
    await scene.hear("((brb))")

    branch = await scene.core.rewinding.take_back(await told(scene, reply), by=MIO)

    assert [turn.raw for turn in branch.turns] == ["Two", "Second.", "((brb))"]
    assert await raws(scene) == ["One", "First."]


async def test_what_arrives_while_an_exchange_is_taken_back_stays(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = await scene.exchange("One", "First.")
    rewind = scene.core.store.rewind

    async def interrupted(*args: Any, **more: Any) -> Any:
        await scene.hear("Wait!")
        return await rewind(*args, **more)

    monkeypatch.setattr(scene.core.store, "rewind", interrupted)
    with pytest.raises(Refused, match="retell-not-last-exchange"):
        await scene.core.rewinding.take_back(await told(scene, reply), by=MIO)

    assert await raws(scene) == ["One", "First.", "Wait!"]


# What is known of persons


async def test_what_a_person_took_back_is_not_brought_to_mind_until_it_happened_again(
    server: ModelServer, tmp_path: Path
) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False, people_tokens=300) as scene:
        await scene.exchange("Good day.")
        reply = await scene.exchange("My wife left me, so I drink.")
        at = scene.clock()
        drinks = trait(1, "drinks since the wife left", now=at, importance=4, sources=sources(scene.session.id, 3))
        sings = trait(2, "sings to his wife", now=at, importance=4, sources=sources(scene.session.id, 1, 3))
        note = Note(1, "Mio said that the wife went away.", at, sources(scene.session.id, 3))
        await know(scene.core.store, scene.session.character.id, MIO, traits_known=[drinks, sings], notes_known=[note])
        await scene.exchange("Where is my wife, who left?")
        assert "drinks since" in scene.prompts()[-1]
        assert "went away" in scene.prompts()[-1]

        message = await message_of(scene, 2)
        branch = await scene.core.rewinding.rewind(message, by=MIO)
        await scene.exchange("Shall we sing for my wife, who left?")
        assert "sings to his wife" in scene.prompts()[-1]
        assert "drinks since" not in scene.prompts()[-1]
        assert "went away" not in scene.prompts()[-1]

        await scene.core.rewinding.take_up(scene.session.id, branch.id, by=MIO)
        assert reply.turn.raw in await raws(scene)
        await scene.exchange("Where is my wife, who left?")
        assert "drinks since" in scene.prompts()[-1]
        assert "went away" in scene.prompts()[-1]


async def test_what_was_taken_back_is_not_judged(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", greeting=False) as scene:
        reply = await scene.exchange("My wife left me, so I drink.")
        note = Note(1, "Mio said that the wife went away.", scene.clock(), sources(scene.session.id, 1))
        known = await know(scene.core.store, scene.session.character.id, MIO, notes_known=[note])
        branch = await scene.core.rewinding.take_back(await told(scene, reply), by=MIO)

        async def work() -> list[str]:
            due = Judgement(1, known, JudgementKind.TRAITS, FoldState.RUNNING, scene.clock(), 0, False)
            return [read.text for read in (await scene.core.store.work_for_traits(due)).notes]

        assert await work() == []
        await scene.core.rewinding.take_up(scene.session.id, branch.id, by=MIO)
        assert await work() == [note.text]


async def test_who_played_may_return_although_none_of_it_is_in_sight(scene: Scene) -> None:
    await scene.exchange("One", "First.")
    reply = await scene.exchange("Two", "Second.", by=ALEX, name="Alex")
    await scene.core.rewinding.take_back(await told(scene, reply), by=ALEX)

    assert await scene.core.rewinding.is_player(scene.session.id, ALEX)
    assert await scene.core.rewinding.is_player(scene.session.id, MIO)
    assert not await scene.core.rewinding.is_player(scene.session.id, 4_711)
