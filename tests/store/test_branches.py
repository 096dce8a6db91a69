"""Rewinding, and going back: what was left is out of sight everywhere, and comes back as it was."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.memory.branches import Branch
from bot.memory.memories import Memory, MemoryKind, MemoryStatus
from bot.memory.policy import Stretch
from bot.memory.recall import indexed_words, typed_words
from bot.memory.story import FoldKind
from bot.memory.turns import Telling, TurnState
from bot.store import Store
from bot.store.tables import findable, turns, versions
from tests.store.tale import KAI, Tale, begin, condensed, event, later, loose_end, never, render, rows, said
from tests.support.databases import lay

CHANNELS = itertools.count(3_000)


async def rewind(tale: Tale, seq: int) -> Branch:
    branch = await tale.store.rewind(tale.session_id, seq, by=KAI, at=later(70), render=render)
    assert branch is not None
    return branch


async def back(tale: Tale, branch: Branch) -> None:
    assert await tale.store.take_up(tale.session_id, branch.id, by=KAI, at=later(80), render=render) is not None


async def kept(tale: Tale) -> list[int]:
    return [turn.seq for turn in await tale.store.turns(tale.session_id, 1, 10_000)]


async def raw(tale: Tale) -> list[int]:
    return [turn.seq for turn in (await tale.store.snapshot(tale.session_id)).turns]


async def chapters(tale: Tale) -> list[tuple[int, int, int, bool]]:
    found = (await tale.store.memory(tale.session_id)).chapters
    return [(chapter.ordinal, chapter.first, chapter.last, chapter.absorbed) for chapter in found]


async def found_for(tale: Tale, word: str) -> tuple[int, int]:
    """How much a search finds, and what a reply might be reminded of."""
    searched = await tale.store.find_words(tale.session_id, typed_words(word))
    return len(searched), len((await tale.store.find(tale.session_id, indexed_words(word))).lines)


async def test_what_follows_is_set_aside_and_the_next_turn_stands_behind_what_is_kept(tale: Tale) -> None:
    await tale.exchanges(3)

    branch = await rewind(tale, 2)
    await tale.player("Otherwise.")
    await tale.reply("Indeed.")

    assert await raw(tale) == [1, 2, 7, 8]
    assert [turn.seq for turn in branch.turns] == [3, 4, 5, 6]
    assert (branch.at_seq, branch.by, branch.at) == (2, KAI, later(70))
    states = {row.seq: row.state for row in await rows(tale.store, turns)}
    assert [states[seq] for seq in (2, 3, 6, 7)] == ["kept", "aside", "aside", "kept"]
    assert (await tale.store.figures(tale.session_id)).turns == 4


async def test_going_back_sets_the_present_way_aside_and_restores_the_other(tale: Tale) -> None:
    await tale.exchanges(3)
    first = await rewind(tale, 2)
    await tale.exchanges(1)

    await back(tale, first)
    (second,) = await tale.store.branches(tale.session_id)
    was = await kept(tale)
    await back(tale, second)

    assert was == [1, 2, 3, 4, 5, 6]
    assert await kept(tale) == [1, 2, 7, 8]
    assert (second.at_seq, [turn.seq for turn in second.turns]) == (2, [7, 8])
    assert [branch.at_seq for branch in await tale.store.branches(tale.session_id)] == [2]


async def test_a_chapter_that_the_turn_stands_in_is_set_aside_as_a_whole(tale: Tale) -> None:
    await tale.exchanges(4)
    await tale.chapter(1, 2, event("They met.", 1), loose_end("Who rang?", 2))
    await tale.chapter(3, 6, event("They sailed.", 3), event("They sank.", 6), resolved={2: 5})

    branch = await rewind(tale, 4)

    assert await chapters(tale) == [(1, 1, 2, False)]
    assert await raw(tale) == [3, 4]
    assert await tale.statuses() == {1: "active", 2: "active", 3: "aside", 4: "aside"}
    assert await tale.head() == "[1] 1:They met. | 2:Who rang?"
    assert (await tale.memory(2)).resolved_by is None

    await back(tale, branch)

    assert await chapters(tale) == [(1, 1, 2, False), (2, 3, 6, False)]
    assert await raw(tale) == [7, 8]
    assert await tale.statuses() == {1: "active", 2: "resolved", 3: "active", 4: "active"}
    assert (await tale.memory(2)).resolved_by == 5
    assert await tale.head() == "[1,2] 1:They met. | 3:They sailed. | 4:They sank."


async def test_every_memory_that_moves_says_so_in_its_history(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 4, event("They met.", 1))
    branch = await rewind(tale, 2)
    await back(tale, branch)

    history = [
        (v.version, v.status.value, v.by, v.reason) for v in (await tale.store.histories(tale.session_id, [1]))[1]
    ]
    assert history == [
        (1, "active", "fold", ""),
        (2, "aside", "rewinding", "rewound"),
        (3, "active", "rewinding", "rewound"),
    ]


async def test_what_a_condensed_line_stood_for_besides_is_back_in_use(tale: Tale) -> None:
    await tale.exchanges(4)
    await tale.chapter(1, 2, event("They met.", 1))
    await tale.chapter(3, 4, event("They talked.", 3))
    await tale.chapter(5, 6, event("They ate.", 5))
    await tale.synopsis([1, 2, 3], condensed("They met, talked and ate.", 1, 2, 3))
    before = await tale.head()

    branch = await rewind(tale, 5)
    assert await tale.head() == "[] 1:They met. | 2:They talked."
    await tale.exchanges(1)
    assert await tale.chapter(5, 9, event("They left.", 9))
    assert await tale.synopsis([4], condensed("All of it.", 1, 2, 5))
    await back(tale, branch)

    assert await tale.head() == before
    assert await tale.statuses() == {
        1: "condensed",
        2: "condensed",
        3: "condensed",
        4: "active",
        5: "aside",
        6: "aside",
    }


async def test_chapters_of_two_ways_have_numbers_of_their_own(tale: Tale) -> None:
    await tale.exchanges(3)
    await tale.chapter(1, 4, event("They sank.", 4))
    branch = await rewind(tale, 2)
    await tale.exchanges(1)
    chapter = await tale.chapter(1, 7, event("They landed.", 7))

    assert chapter is not None
    assert await chapters(tale) == [(2, 1, 7, False)]
    await back(tale, branch)
    assert await chapters(tale) == [(1, 1, 4, False)]
    assert await raw(tale) == [5, 6]
    assert await tale.head() == "[1] 1:They sank."


async def test_neither_recall_nor_search_finds_what_is_out_of_sight(tale: Tale) -> None:
    await tale.player("A heron on the pier.")
    await tale.reply("Aye, a heron.")
    await tale.chapter(1, 2, event("A heron came.", 1))
    await tale.player("A lantern burns.")
    branch = await rewind(tale, 0)
    await tale.player("A walrus sings.")

    assert await found_for(tale, "heron") == await found_for(tale, "lantern") == (0, 0)
    assert await found_for(tale, "walrus") == (1, 1)

    await back(tale, branch)
    assert await found_for(tale, "heron") == (3, 3)
    assert await found_for(tale, "walrus") == (0, 0)


async def test_a_way_inside_a_way_is_reached_directly(tale: Tale) -> None:
    await tale.exchanges(2)
    outer = await rewind(tale, 2)
    await tale.exchanges(2)
    inner = await rewind(tale, 6)
    await back(tale, outer)

    assert await kept(tale) == [1, 2, 3, 4]
    await back(tale, inner)
    assert await kept(tale) == [1, 2, 5, 6, 7, 8]
    assert [[t.seq for t in b.turns] for b in await tale.store.branches(tale.session_id)] == [[3, 4]]


async def test_nothing_follows_the_newest_turn(tale: Tale) -> None:
    await tale.exchanges(1)

    assert await tale.store.rewind(tale.session_id, 2, by=KAI, at=later(), render=render) is None
    assert await tale.store.take_up(tale.session_id, 99, by=KAI, at=later(), render=render) is None
    assert await tale.store.branches(tale.session_id) == ()


async def test_a_story_is_not_rewound_under_a_reply_that_is_being_written(tale: Tale) -> None:
    await tale.exchanges(2)
    branch = await rewind(tale, 2)
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None

    assert await tale.store.rewind(tale.session_id, 1, by=KAI, at=later(), render=render) is None
    assert await tale.store.take_up(tale.session_id, branch.id, by=KAI, at=later(), render=render) is None
    assert await kept(tale) == [1, 2, 5]


async def test_a_way_of_another_session_cannot_be_taken_up(store: Store, tale: Tale) -> None:
    await tale.exchanges(2)
    branch = await rewind(tale, 2)
    other = await begin(store, channel_id=next(CHANNELS))

    assert await store.take_up(other.session_id, branch.id, by=KAI, at=later(), render=render) is None
    assert len(await store.branches(tale.session_id)) == 1


async def test_a_fold_under_way_is_not_committed_over_a_rewound_story(tale: Tale) -> None:
    await tale.exchanges(3)
    read = await tale.revisions(1, 4)
    branch = await rewind(tale, 2)
    assert await _commit(tale, read, 4) is None
    await back(tale, branch)
    assert await _commit(tale, read, 4) is not None


async def test_work_on_a_chapter_waits_while_the_chapter_is_out_of_sight(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 4, event("They met.", 1))
    (turn,) = await tale.store.turns(tale.session_id, 1, 1)
    await tale.store.edit_turn(turn.id, "Good evening.", said("Good evening."), 3, later(), render)
    (fold,) = await tale.open_folds()
    running = await tale.store.claim_fold(fold.id, later())
    assert running is not None
    branch = await rewind(tale, 2)

    assert not await tale.store.commit_refold(
        running.id, tale.session_id, 1, {}, (), {}, by="fold", at=later(), render=render
    )
    await tale.store.fail_fold(running.id, "changed-meanwhile", retry_at=later(3), now=later())
    assert await tale.open_folds() == ()
    assert await tale.store.next_due() is None

    await back(tale, branch)
    assert [(f.kind, f.chapter) for f in await tale.open_folds()] == [(FoldKind.REFOLD, 1)]
    assert await tale.store.next_due() == later(3)


async def test_an_edit_reaches_what_is_out_of_sight(tale: Tale) -> None:
    message = tale.message("A florb key.")
    await tale.store.add_player_turn(tale.session_id, message, said(message.text), 3, never())
    await tale.reply()
    await tale.chapter(1, 2, event("A florb key was found.", 1), event("It rained.", 2))
    branch = await rewind(tale, 0)
    found = await tale.store.turn_of_message(message.message_id)
    assert found is not None
    await tale.store.edit_turn(found[1].id, "A silver key.", said("A silver key."), 3, later(), render)
    assert await tale.head() == "[] "
    await back(tale, branch)

    assert [turn.raw for turn in await tale.store.turns(tale.session_id, 1, 2)] == ["A silver key.", "Yes."]
    assert await tale.head() == "[1] 2:It rained."
    assert [(f.kind, f.chapter) for f in await tale.open_folds()] == [(FoldKind.REFOLD, 1)]
    assert await tale.refold(1, event("A silver key was found.", 1))
    assert await tale.head() == "[1] 3:A silver key was found."


async def test_a_chapter_out_of_sight_is_folded_again_although_nothing_cites_what_was_edited(tale: Tale) -> None:
    await tale.exchanges(1)
    await tale.chapter(1, 2, event("They met.", 2))
    (turn,) = await tale.store.turns(tale.session_id, 1, 1)
    branch = await rewind(tale, 0)
    await tale.store.edit_turn(turn.id, "I am a nurse.", said("I am a nurse."), 3, later(), render)
    assert await tale.open_folds() == ()
    await back(tale, branch)

    assert [(f.kind, f.chapter) for f in await tale.open_folds()] == [(FoldKind.REFOLD, 1)]
    assert await tale.head() == "[1] 1:They met."


async def test_words_deleted_out_of_sight_leave_the_database(tale: Tale, tmp_path: Path) -> None:
    await tale.exchanges(1)
    message = tale.message("My telephone number is 5550100.")
    await tale.store.add_player_turn(tale.session_id, message, said(message.text), 9, never())
    branch = await rewind(tale, 2)
    assert await tale.store.delete_turns([message.message_id], later(), render) == {tale.session_id}

    assert await tale.store.branches(tale.session_id) == ()
    await back(tale, branch)
    assert await kept(tale) == [1, 2]
    await tale.store.close()
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"They" not in files
    assert b"5550100" not in files


async def test_a_loose_end_tied_by_a_turn_that_was_deleted_meanwhile_is_open(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 2, loose_end("Who rang?", 1))
    message = tale.message("I rang.")
    await tale.store.add_player_turn(tale.session_id, message, said(message.text), 9, never())
    await tale.chapter(3, 5, resolved={1: 5})
    branch = await rewind(tale, 4)
    await tale.store.delete_turns([message.message_id], later(), render)
    await back(tale, branch)

    assert await tale.statuses() == {1: "active"}


async def test_a_chapter_folded_again_meanwhile_is_not_undone(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 2, event("A florb key.", 1))
    branch = await rewind(tale, 3)
    (turn,) = await tale.store.turns(tale.session_id, 1, 1)
    await tale.store.edit_turn(turn.id, "Silver.", said("Silver."), 3, later(), render)
    await tale.refold(1, event("A silver key.", 1))
    await back(tale, branch)

    assert await tale.head() == "[1] 2:A silver key."


async def correct(tale: Tale, number: int, text: str = "") -> None:
    """A moderator's edit, or without a text a retraction."""
    memory = await tale.memory(number)
    content = replace(memory.content, text=text) if text else memory.content
    status = memory.status if text else MemoryStatus.RETRACTED
    changed = replace(memory, content=content, status=status, corrected=True)
    assert await tale.store.save_correction(
        tale.session_id, memory.version, changed, by="777", reason="", at=later(90), render=render
    )


@pytest.mark.parametrize(("text", "head"), [("", ""), ("The bridge stands.", "1:The bridge stands. | ")])
async def test_a_correction_is_final_also_when_the_story_goes_back(tale: Tale, text: str, head: str) -> None:
    await tale.exchanges(3)
    await tale.chapter(1, 2, event("The bridge burnt.", 1))
    await tale.chapter(3, 6, event("They ate.", 3))
    await tale.synopsis([1, 2], condensed("The bridge burnt, and they ate.", 1, 2))
    branch = await rewind(tale, 3)
    await correct(tale, 1, text)
    await back(tale, branch)

    assert await tale.head() == f"[] {head}2:They ate."
    assert (await tale.memory(3)).status is MemoryStatus.STALE


async def test_a_correction_before_the_story_was_rewound_comes_back_with_it(tale: Tale) -> None:
    await tale.exchanges(2)
    await tale.chapter(1, 4, event("The bridge burnt.", 1), event("Rin lied.", 2))
    await correct(tale, 1, "The bridge stands.")
    await correct(tale, 2)
    branch = await rewind(tale, 2)
    away = await tale.head()
    await back(tale, branch)

    assert away == "[] "
    assert await tale.head() == "[1] 1:The bridge stands."
    assert await tale.statuses() == {1: "active", 2: "retracted"}


async def test_a_forced_cut_behind_the_turn_is_forgotten(tale: Tale) -> None:
    await tale.exchanges(3)
    await tale.store.note_forced_cut(tale.session_id, 5)
    branch = await rewind(tale, 2)
    away = (await tale.store.snapshot(tale.session_id)).session.raw_from
    await back(tale, branch)

    assert away == 0
    assert (await tale.store.snapshot(tale.session_id)).session.raw_from == 5


async def test_tails_go_with_the_memory_that_they_may_repeat(tale: Tale) -> None:
    await tale.exchanges(2)
    before = (await tale.store.snapshot(tale.session_id)).session.epoch
    await rewind(tale, 2)

    assert (await tale.store.snapshot(tale.session_id)).session.epoch > before


async def test_the_turns_that_are_in_sight_again_are_known(tale: Tale) -> None:
    await tale.exchanges(3)
    outermost = await rewind(tale, 4)
    await rewind(tale, 2)
    back = await tale.store.take_up(tale.session_id, outermost.id, by=KAI, at=later(80), render=render)

    assert back == await tale.store.turns(tale.session_id, 3, 6)
    assert [turn.seq for turn in outermost.turns] == [5, 6]


async def test_the_last_exchange_is_what_stands_behind_the_reply_before(tale: Tale) -> None:
    assert await tale.store.last_exchange(tale.session_id) == ()
    await tale.exchanges(1)
    await tale.player("Two.")
    await tale.player("Two and a half.")
    waiting = [turn.seq for turn in await tale.store.last_exchange(tale.session_id)]
    await tale.reply()
    answered = [turn.seq for turn in await tale.store.last_exchange(tale.session_id)]

    assert (waiting, answered) == ([3, 4], [3, 4, 5])


async def _commit(tale: Tale, read: dict[int, int], last: int) -> object:
    return await tale.store.commit_chapter(
        None,
        tale.session_id,
        Stretch(1, last),
        read,
        (event("They met.", 1),),
        {},
        by="fold",
        at=later(),
        render=render,
    )


# Any sequence of play


@dataclass
class Play:
    """A story on which things are done in any order, with what each way looked like when it was left."""

    tale: Tale
    left: dict[int, tuple[str, list[tuple[int, str]], list[tuple[int, int, int, bool]], int]] = field(
        default_factory=dict
    )
    changes: int = 0
    put_right: dict[int, str] = field(default_factory=dict)

    async def do(self, step: str, place: int) -> None:
        await getattr(self, f"_{step}")(place)

    async def _play(self, place: int) -> None:
        await self.tale.player(f"Question {place}.")
        await self.tale.reply(f"Answer {place}.")

    async def _fold(self, place: int) -> None:
        unfolded = await raw(self.tale)
        if not unfolded:
            return
        covered = unfolded[: place % len(unfolded) + 1]
        ends = (await self.tale.store.memory(self.tale.session_id)).open_ends()
        chapter = await self.tale.chapter(
            covered[0],
            covered[-1],
            event(f"Event of {covered[0]}.", covered[0]),
            event(f"Event of {covered[-1]}.", covered[-1]),
            loose_end(f"End of {covered[-1]}.", covered[-1]),
            resolved={ends[0].number: covered[-1]} if ends and place % 2 else {},
        )
        assert chapter is not None

    async def _major(self, place: int) -> None:
        memory = await self.tale.store.memory(self.tale.session_id)
        young = [chapter for chapter in memory.chapters if not chapter.absorbed]
        half = young[: (len(young) + 1) // 2]
        old = [m for m in memory.of_synopsis() if m.kind is MemoryKind.EVENT]
        events = old + [m for c in half for m in memory.of_chapter(c) if m.kind is MemoryKind.EVENT and not m.corrected]
        events = [m for m in events if not m.corrected]
        if len(events) > 1:
            line = condensed(f"Story of {place}.", *(m.number for m in events))
            assert await self.tale.synopsis([chapter.ordinal for chapter in half], line)

    async def _correct(self, place: int) -> None:
        memory = await self.tale.store.memory(self.tale.session_id)
        active = [m for m in memory.memories if m.is_active]
        if active:
            chosen = active[place % len(active)]
            text = "" if place % 3 == 0 else f"Right {place}."
            await correct(self.tale, chosen.number, text)
            self.put_right[chosen.number] = text
            self.changes += 1

    async def _edit(self, place: int) -> None:
        turn = await self._turn(place)
        if turn is not None:
            self.changes += 1
            text = f"Edit {self.changes}."
            await self.tale.store.edit_turn(turn.id, text, said(text), 3, later(), render)

    async def _delete(self, place: int) -> None:
        turn = await self._turn(place)
        if turn is not None:
            self.changes += 1
            await self.tale.store.delete_turns(await self.tale.store.messages_of(turn.id), later(), render)

    async def _refold(self, place: int) -> None:
        due = [fold for fold in await self.tale.open_folds() if fold.kind is FoldKind.REFOLD]
        for fold in due:
            chapter = next(c for c in await chapters(self.tale) if c[0] == fold.chapter)
            seqs = [seq for seq in await kept(self.tale) if chapter[1] <= seq <= chapter[2]]
            found = [event(f"Event of {seq}.", seq) for seq in seqs[:2]]
            assert await self.tale.refold(chapter[0], *found)
            claimed = await self.tale.store.claim_fold(fold.id, later())
            assert claimed is not None
            await self.tale.store.finish_fold(fold.id, later())
            self.changes += 1

    async def _rewind(self, place: int) -> None:
        there = await kept(self.tale)
        if there:
            look = await self._look()
            branch = await self.tale.store.rewind(
                self.tale.session_id, there[place % len(there)], by=KAI, at=later(), render=render
            )
            if branch is not None:
                self.left[branch.id] = look

    async def _back(self, place: int) -> None:
        ways = await self.tale.store.branches(self.tale.session_id)
        if not ways:
            return
        way = ways[place % len(ways)]
        look, known = await self._look(), {branch.id for branch in ways}
        await back(self.tale, way)
        for branch in await self.tale.store.branches(self.tale.session_id):
            if branch.id not in known:
                self.left[branch.id] = look
        head, story, told, changes = self.left[way.id]
        now = await self._look()
        if changes == self.changes:
            assert now[:3] == (head, story, told)
        else:
            assert {seq for seq, _ in now[1]} <= {seq for seq, _ in story}

    async def _look(self) -> tuple[str, list[tuple[int, str]], list[tuple[int, int, int, bool]], int]:
        story = [(turn.seq, turn.raw) for turn in await self.tale.store.turns(self.tale.session_id, 1, 10_000)]
        return await self.tale.head(), story, await chapters(self.tale), self.changes

    async def _retell(self, place: int) -> None:
        newest = await self.tale.store.newest_turn(self.tale.session_id)
        if newest is not None and not newest.author.is_player:
            text = f"Telling {self.changes}."
            telling = Telling(text, said(text, "Rin"), 10, "stop")
            told = await self.tale.store.tell_anew(newest.id, newest.revision, telling, never())
            assert (told is not None) == (newest.seq in await raw(self.tale))
            self.changes += told is not None

    async def _turn(self, place: int) -> Any:
        found = [
            row
            for row in await rows(self.tale.store, turns)
            if row.session_id == self.tale.session_id and row.state in (TurnState.KEPT, TurnState.ASIDE)
        ]
        return found[place % len(found)] if found else None


async def check(play: Play) -> None:
    """What holds at every moment."""
    tale = play.tale
    memory = await tale.store.memory(tale.session_id)
    known = {m.number: m for m in memory.memories}
    all_turns = {row.seq: row for row in await rows(tale.store, turns) if row.session_id == tale.session_id}
    there = {seq for seq, row in all_turns.items() if row.state is TurnState.KEPT}
    aside = {seq for seq, row in all_turns.items() if row.state is TurnState.ASIDE}
    snapshot = await tale.store.snapshot(tale.session_id)
    told = [(chapter.first, chapter.last) for chapter in memory.chapters]

    assert all(last < first for (_, last), (first, _) in itertools.pairwise(told))
    assert snapshot.session.folded_to == (told[-1][1] if told else 0)
    for seq in there:
        covering = [place for place in told if place[0] <= seq <= place[1]]
        assert len(covering) == (1 if seq <= snapshot.session.folded_to else 0)
    assert [turn.seq for turn in snapshot.turns] == sorted(seq for seq in there if seq > snapshot.session.folded_to)
    assert snapshot.memory_text == render(memory).text

    def sources(m: Memory) -> set[int]:
        return {cite.seq for cite in m.cites}.union(*(sources(known[number]) for number in m.condenses))

    in_use = [m for m in memory.memories if m.status in (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)]
    for m in memory.memories:
        if m.status in (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED, MemoryStatus.RESOLVED):
            assert not sources(m) & aside, f"{m} rests on turns out of sight"
        assert m.status is not MemoryStatus.RESOLVED or m.resolved_by in there
        wanted = play.put_right.get(m.number)
        if wanted is not None:
            assert m.content.text == wanted or not wanted
            assert wanted or m.status is MemoryStatus.RETRACTED
    standing = {n for m in in_use for n in m.condenses}
    retracted = {n for m in memory.memories if m.status is MemoryStatus.RETRACTED for n in m.condenses}
    for m in in_use:
        assert (m.status is MemoryStatus.CONDENSED) <= (m.number in standing | retracted)

    found = [row for row in await rows(tale.store, findable) if row.session_id == tale.session_id]
    assert {row.seq for row in found if row.seq is not None} == there
    tied = {m.number for m in memory.memories if m.status is MemoryStatus.RESOLVED}
    assert {row.number for row in found if row.number is not None} == {m.number for m in in_use} | tied
    written = [row for row in await rows(tale.store, versions) if row.session_id == tale.session_id]
    newest = {row.number: row for row in sorted(written, key=lambda row: row.version)}
    assert {n: (m.version, m.status) for n, m in known.items()} == {n: (r.version, r.status) for n, r in newest.items()}


STEP = st.tuples(
    st.sampled_from(
        ("play", "play", "fold", "fold", "major", "rewind", "back", "retell", "correct", "edit", "delete", "refold")
    ),
    st.integers(0, 40),
)


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for databases."""
    return tmp_path_factory.mktemp("stories")


@settings(max_examples=15)
@given(st.lists(STEP, min_size=4, max_size=14))
@example([(step, 7) for step in "play play fold rewind play fold major back back rewind back".split()])
def test_in_whatever_order_a_story_is_told_left_and_taken_up_again(stories: Path, steps: list[tuple[str, int]]) -> None:
    story = stories / f"{next(CHANNELS)}.db"
    url = lay(story)

    async def run() -> None:
        async with await Store.open(url, migrate=False) as store:
            play = Play(await begin(store))
            await play.do("play", 0)
            for step, place in steps:
                await play.do(step, place)
                await check(play)

    asyncio.run(run())
    story.unlink()
