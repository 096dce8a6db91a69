from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, NewMemory
from bot.memory.policy import Stretch
from bot.memory.turns import Citation, Telling
from bot.store import Store
from bot.store.tables import chapters, condensations, evidence, memories, versions
from tests.store.tale import Tale, condensed, event, later, loose_end, never, render, rows, said

MODERATOR = "4242"


@pytest.fixture
async def told(tale: Tale) -> Tale:
    """Six exchanges, none folded."""
    await tale.exchanges(6)
    return tale


async def _correct(tale: Tale, number: int, text: str = "", status: MemoryStatus | None = None) -> Memory:
    """A moderator's edit or, with a status, another word of theirs."""
    before = await tale.memory(number)
    content = replace(before.content, text=text or before.content.text)
    after = replace(before, content=content, status=status or before.status, corrected=True, version=before.version + 1)
    assert await tale.store.save_correction(
        tale.session_id, before.version, after, by=MODERATOR, reason="a lie", at=later(35), render=render
    )
    return after


async def _edit(tale: Tale, seq: int, text: str = "Otherwise.") -> None:
    (turn,) = await tale.store.turns(tale.session_id, seq, seq)
    await tale.store.edit_turn(turn.id, text, said(text), 3, later(38), render)


async def test_a_chapter_is_written_with_its_memories_and_their_evidence(told: Tale) -> None:
    secret = NewMemory(
        Content(MemoryKind.SECRET, "She is fine.", "Rin", "Mio", actual="She is ill.", player_id=7),
        (Citation(2, 1), Citation(1, 2)),
    )
    chapter = await told.chapter(1, 4, event("They met.", 1, 2), secret, loose_end("Where is the key?", 3))

    assert chapter == Chapter(1, 1, 4)
    memory = await told.store.memory(told.session_id)
    assert memory.chapters == (chapter,)
    assert memory.memories == (
        Memory(1, Content(MemoryKind.EVENT, "They met."), cites=(Citation(1, 1), Citation(2, 1)), chapter=1),
        Memory(2, secret.content, cites=secret.cites, chapter=1),
        Memory(3, Content(MemoryKind.LOOSE_END, "Where is the key?"), cites=(Citation(3, 1),), chapter=1),
    )
    histories = await told.store.histories(told.session_id, [1, 2])
    assert set(histories) == {1, 2}
    (version,) = histories[2]
    assert (version.version, version.content, version.status) == (1, secret.content, MemoryStatus.ACTIVE)
    assert (version.by, version.at) == ("fold", later(30))
    assert await told.head() == "[1] 1:They met. | 2:She is fine. | 3:Where is the key?"


async def test_the_next_chapter_goes_on_where_the_last_one_ended(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), loose_end("Where is the key?", 3))
    chapter = await told.chapter(5, 8, event("They found it.", 6), resolved={2: 6, 1: 6, 99: 6})

    assert chapter == Chapter(2, 5, 8)
    tied = await told.memory(2)
    assert (tied.status, tied.resolved_by, tied.version) == (MemoryStatus.RESOLVED, 6, 2)
    assert await told.statuses() == {1: "active", 2: "resolved", 3: "active"}
    assert [(v.status.value, v.by, v.reason) for v in (await told.store.histories(told.session_id, [2]))[2]] == [
        ("active", "fold", ""),
        ("resolved", "fold", "resolved"),
    ]
    assert (await told.store.snapshot(told.session_id)).session.folded_to == 8
    assert await told.head() == "[1,2] 1:They met. | 3:They found it."


async def test_of_two_folds_of_the_same_stretch_one_is_committed(told: Tale) -> None:
    results = await asyncio.gather(*(told.chapter(1, 4, event(f"Version {n}.", 1)) for n in range(2)))

    assert sorted(result is not None for result in results) == [False, True]
    assert len(await rows(told.store, chapters)) == 1
    assert len(await rows(told.store, memories)) == 1
    assert len(await rows(told.store, versions)) == 1
    assert len(await rows(told.store, evidence)) == 1
    assert (await told.chapter(5, 6)) == Chapter(2, 5, 6)


@pytest.mark.parametrize("change", ["edited", "deleted", "missing", "extra"])
async def test_a_fold_of_turns_that_changed_meanwhile_is_thrown_away(told: Tale, change: str) -> None:
    read = await told.revisions(1, 4)
    if change == "edited":
        await _edit(told, 3)
    elif change == "deleted":
        await told.player("Gone soon.")
        (turn,) = await told.store.turns(told.session_id, 2, 2)
        await told.store.tie_messages(turn.id, 1, [99])
        await told.store.delete_turns([99], later(), render)
    elif change == "missing":
        del read[3]
    else:
        read[5] = 1
    head = await told.head()
    committed = await told.store.commit_chapter(
        None, told.session_id, Stretch(1, 4), read, [event("They met.", 1)], {}, by="fold", at=later(), render=render
    )

    assert committed is None
    assert await rows(told.store, chapters) == []
    assert await rows(told.store, memories) == []
    snapshot = await told.store.snapshot(told.session_id)
    assert (snapshot.session.folded_to, snapshot.memory_text) == (0, head)
    assert await told.chapter(1, 4, event("They met.", 1)) == Chapter(1, 1, 4)


async def test_no_chapter_closes_over_a_reply_that_is_being_written(tale: Tale) -> None:
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.player("And another thing.")
    assert await tale.chapter(1, 3, event("They met.", 1)) is None

    await tale.store.finish_reply(
        begun.turn.id, Telling("Yes.", said("Yes."), 3, "stop", None, None, None, "small"), never()
    )
    assert await tale.chapter(1, 3, event("They met.", 1)) == Chapter(1, 1, 3)


async def test_what_a_chapter_covers_is_not_folded_again(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1))
    for stretch in (Stretch(1, 4), Stretch(1, 2)):
        committed = await told.store.commit_chapter(
            None, told.session_id, stretch, {}, [], {}, by="fold", at=later(), render=render
        )
        assert committed is None

    assert (await told.store.snapshot(told.session_id)).session.folded_to == 4
    assert len(await rows(told.store, chapters)) == 1


async def test_a_reply_that_failed_is_no_gap(tale: Tale) -> None:
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.store.fail_reply(begun.turn.id)
    await tale.reply()

    assert list(await tale.revisions(1, 3)) == [1, 3]
    assert await tale.chapter(1, 3, event("They met.", 3)) == Chapter(1, 1, 3)


async def test_a_chapter_that_cannot_be_rendered_is_not_written(told: Tale) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("no head")

    read = await told.revisions(1, 4)
    with pytest.raises(RuntimeError, match="no head"):
        await told.store.commit_chapter(
            None,
            told.session_id,
            Stretch(1, 4),
            read,
            [event("They met.", 1)],
            {},
            by="fold",
            at=later(),
            render=broken,  # type: ignore[arg-type]
        )

    assert await rows(told.store, chapters) == []
    assert await rows(told.store, memories) == []
    assert await told.chapter(1, 4, event("They met.", 1)) == Chapter(1, 1, 4)
    assert await told.statuses() == {1: "active"}


async def test_a_synopsis_stands_for_the_events_of_the_chapters_it_absorbs(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), loose_end("Where is the key?", 3))
    await told.chapter(5, 8, event("They ate.", 5), event("They slept.", 7))
    await told.chapter(9, 10, event("They woke.", 9))
    assert await told.synopsis([1, 2], condensed("They met and ate.", 1, 3))

    memory = await told.store.memory(told.session_id)
    assert [chapter.absorbed for chapter in memory.chapters] == [True, True, False]
    assert await told.statuses() == {1: "condensed", 2: "active", 3: "condensed", 4: "active", 5: "active", 6: "active"}
    line = await told.memory(6)
    assert (line.condenses, line.chapter, line.cites) == ((1, 3), None, ())
    assert [m.number for m in memory.of_synopsis()] == [4, 6]
    (last,) = (await told.store.histories(told.session_id, [1]))[1][1:]
    assert (last.version, last.status, last.by) == (2, MemoryStatus.CONDENSED, "major fold")
    assert await told.head() == "[3] " + " | ".join(
        ["2:Where is the key?", "4:They slept.", "5:They woke.", "6:They met and ate."]
    )


async def test_an_event_that_no_condensed_line_names_stays_as_it_is(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    line = condensed("They had met.", 1)
    assert await told.store.commit_synopsis(
        told.session_id, {1: 1, 2: 1}, [1], [line], by="major fold", at=later(50), render=render
    )

    assert await told.statuses() == {1: "condensed", 2: "active", 3: "active"}
    assert (await told.memory(2)).version == 1


async def test_a_synopsis_of_what_changed_meanwhile_is_thrown_away(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    await told.chapter(5, 8, event("They ate.", 5))
    line = condensed("They met and talked.", 1, 2)
    commit = {"by": "major fold", "at": later(50), "render": render}
    await _correct(told, 2, "They fought.")
    stale_read = await told.store.commit_synopsis(told.session_id, {1: 1, 2: 1}, [1], [line], **commit)  # type: ignore[arg-type]
    unknown = await told.store.commit_synopsis(told.session_id, {9: 1}, [1], [], **commit)  # type: ignore[arg-type]
    assert (stale_read, unknown) == (False, False)
    assert await rows(told.store, condensations) == []

    assert await told.synopsis([1], line)
    assert not await told.synopsis([1], condensed("They ate well.", 3))
    assert await told.statuses() == {1: "condensed", 2: "condensed", 3: "active", 4: "active"}


async def test_an_edit_reaches_what_was_derived_in_each_generation(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    await told.chapter(5, 8, event("They ate.", 5))
    await told.chapter(9, 10, event("They slept.", 9))
    assert await told.synopsis([1], condensed("First.", 1, 2))
    assert await told.synopsis([2], condensed("First, then they ate.", 5, 3))
    await _edit(told, 1)

    # What the two lines stood for besides comes back; what cites the turn, and the lines over it, do not.
    assert await told.statuses() == {1: "stale", 2: "active", 3: "active", 4: "active", 5: "stale", 6: "stale"}
    assert await told.head() == "[3] 2:They talked. | 3:They ate. | 4:They slept."
    assert [(fold.kind.value, fold.chapter) for fold in await told.open_folds()] == [("refold", 1)]
    (last,) = (await told.store.histories(told.session_id, [6]))[6][1:]
    assert (last.status, last.by) == (MemoryStatus.STALE, "edit")


async def test_a_refold_replaces_what_the_fold_wrote(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    await told.chapter(5, 8, event("They ate.", 5))
    await _edit(told, 1)
    assert await told.refold(1, event("They met at sea.", 1), event("They talked.", 3))

    assert await told.statuses() == {1: "replaced", 2: "replaced", 3: "active", 4: "active", 5: "active"}
    assert [(await told.memory(number)).chapter for number in (4, 5)] == [1, 1]
    assert await told.head() == "[1,2] 3:They ate. | 4:They met at sea. | 5:They talked."
    # The row of the refold is finished by whoever runs it.
    assert [fold.chapter for fold in await told.open_folds()] == [1]


async def test_a_refold_of_an_absorbed_chapter_lands_in_the_synopsis(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3), event("They sang.", 4))
    await told.chapter(5, 8, event("They ate.", 5))
    assert await told.synopsis([1], condensed("They met and talked.", 1, 2))
    await _edit(told, 1)
    assert await told.refold(1, event("They met at sea.", 1))

    assert await told.statuses() == {
        1: "replaced",
        2: "replaced",
        3: "replaced",
        4: "active",
        5: "stale",
        6: "active",
    }
    memory = await told.store.memory(told.session_id)
    assert [m.number for m in memory.of_synopsis()] == [6]


async def test_a_refold_leaves_what_a_synopsis_stands_for_and_what_was_tied(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3), loose_end("Where is the key?", 4))
    await told.chapter(5, 8, event("They found it.", 6), resolved={3: 6})
    assert await told.synopsis([1], condensed("They met.", 1))
    await _edit(told, 3)
    assert await told.refold(1, event("They shouted.", 3))

    assert await told.statuses() == {
        1: "condensed",
        2: "replaced",
        3: "resolved",
        4: "active",
        5: "active",
        6: "active",
    }


async def test_a_tied_end_does_not_come_back_with_an_edit(told: Tale) -> None:
    await told.chapter(1, 4, loose_end("Where is the key?", 4), loose_end("Who called?", 2))
    await told.chapter(5, 8, event("They found it.", 6), resolved={1: 6})
    await _edit(told, 4)
    assert (await told.statuses())[1] == "stale"
    assert await told.refold(1)

    assert await told.statuses() == {1: "resolved", 2: "replaced", 3: "active"}


async def test_a_refold_leaves_what_a_moderator_settled(told: Tale) -> None:
    await told.chapter(1, 4, event("Edited.", 1), event("Retracted.", 1), event("Kind changed.", 1), event("Both.", 1))
    await _correct(told, 1, "As the moderator says.")
    await _correct(told, 2, status=MemoryStatus.RETRACTED)
    await _correct(told, 3)
    await _correct(told, 4, "Reworded, then taken out.")
    await _correct(told, 4, status=MemoryStatus.RETRACTED)
    await _edit(told, 1)
    assert await told.statuses() == {1: "stale", 2: "retracted", 3: "stale", 4: "retracted"}
    assert await told.refold(1, event("New.", 1))

    # Only a text that a moderator wrote outlives the edit, and nothing that they took out returns.
    assert await told.statuses() == {1: "active", 2: "retracted", 3: "stale", 4: "retracted", 5: "active"}
    assert await told.head() == "[1] 1:As the moderator says. | 5:New."
    assert all([(await told.memory(number)).corrected for number in (1, 2, 3, 4)])


async def test_a_settled_memory_without_its_source_stays_out_of_sight(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 1, 3))
    await _correct(told, 1, "They met at sea.")
    await _correct(told, 2, "They talked loudly.")
    (turn,) = await told.store.turns(told.session_id, 1, 1)
    await told.store.tie_messages(turn.id, 1, [99])
    await told.store.delete_turns([99], later(), render)
    assert await told.refold(1)

    assert await told.statuses() == {1: "stale", 2: "active"}


async def test_a_refold_of_turns_that_changed_meanwhile_is_thrown_away(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1))
    read = await told.revisions(1, 4)
    await _edit(told, 1)
    (fold,) = await told.open_folds()
    found = [event("They met at sea.", 1)]
    assert not await told.store.commit_refold(
        fold.id, told.session_id, 1, read, found, {}, by="fold", at=later(), render=render
    )

    assert await told.statuses() == {1: "stale"}
    with pytest.raises(LookupError, match="no chapter 7"):
        await told.store.commit_refold(fold.id, told.session_id, 7, {}, [], {}, by="fold", at=later(), render=render)


async def test_a_restated_memory_is_linked_to_the_corrected_one(told: Tale) -> None:
    await told.chapter(1, 4, event("They met.", 1))
    await _correct(told, 1, status=MemoryStatus.RETRACTED)
    await told.chapter(5, 8, replace(event("They met.", 6), restates=1))

    assert (await told.memory(2)).restates == 1


async def test_numbers_are_never_given_twice(told: Tale, store: Store) -> None:
    await told.chapter(1, 4, event("They met.", 1), event("They talked.", 3))
    await _edit(told, 1)
    await told.refold(1, event("They met at sea.", 1))
    await told.chapter(5, 8, event("They ate.", 5))

    assert [row.number for row in await rows(store, memories)] == [1, 2, 3, 4]
