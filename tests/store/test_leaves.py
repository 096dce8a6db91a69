"""The memory leaf by leaf, as ``/memory show`` reads it: the same lines as the whole memory has, in the same order."""

from __future__ import annotations

import pytest

from bot.memory.leaves import LINES, leaves, on_leaf
from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus, NewMemory, SessionMemory
from bot.memory.turns import Citation
from bot.store import Store
from tests.store.tale import Tale, condensed, later, render


def new(kind: MemoryKind, text: str, seq: int) -> NewMemory:
    return NewMemory(Content(kind, text, speaker="Rin"), (Citation(seq, 1),))


@pytest.fixture
async def told(tale: Tale) -> Tale:
    """Three chapters of all kinds, of which the first is condensed; one loose end is tied, one memory retracted."""
    await tale.exchanges(12)
    for chapter in range(3):
        first = 8 * chapter + 1
        found = [new(kind, f"{kind} {number} of {chapter}", first) for number in range(4) for kind in MemoryKind]
        await tale.chapter(first, first + 7, *found, resolved={5: 9} if chapter else None)
    events = [m.number for m in (await tale.store.memory(tale.session_id)).memories if m.kind is MemoryKind.EVENT]
    await tale.synopsis([1], condensed("What happened first.", *events[:4]))
    memory = (await tale.store.memory(tale.session_id)).get(2)
    assert memory is not None
    gone = Memory(2, memory.content, MemoryStatus.RETRACTED, memory.cites, chapter=1, corrected=True)
    await tale.store.save_correction(tale.session_id, 1, gone, by="9", reason="", at=later(60), render=render)
    return tale


def in_order(memory: SessionMemory, kind: MemoryKind | None = None) -> list[int]:
    """The numbers of the lines as they follow each other."""
    young = [m for chapter in memory.chapters if not chapter.absorbed for m in memory.of_chapter(chapter)]
    whole = [*memory.of_synopsis(), *young, *memory.open_ends(), *memory.quotes()]
    return [m.number for m in whole if kind in (None, m.kind)]


@pytest.mark.parametrize("kind", [None, *MemoryKind])
async def test_all_leaves_together_are_the_memory_in_use(told: Tale, kind: MemoryKind | None) -> None:
    memory = await told.store.memory(told.session_id)
    wanted = in_order(memory, kind)

    first = await told.store.leaf(told.session_id, 0, kind)
    found = [first, *[await told.store.leaf(told.session_id, n, kind) for n in range(1, first.count)]]

    assert first.count == leaves(len(wanted))
    assert [m.number for leaf in found for _, lines in leaf.sections for m in lines] == wanted
    assert all(sum(len(lines) for _, lines in leaf.sections) <= LINES for leaf in found)
    by_number = {m.number: m for m in memory.memories}
    assert all(m.content == by_number[m.number].content for leaf in found for _, lines in leaf.sections for m in lines)
    for number in wanted:
        with_it = await told.store.leaf_with(told.session_id, number, kind)
        assert with_it is not None
        assert number in [m.number for _, lines in with_it.sections for m in lines]


async def test_headings_are_those_of_the_sections(told: Tale) -> None:
    first = await told.store.leaf(told.session_id, 0)
    last = await told.store.leaf(told.session_id, 99)

    assert (first.sections[0][0].chapter, first.sections[0][0].kind) == (None, None)
    assert [section.chapter.ordinal for section, _ in first.sections if section.chapter] == [2]
    assert last.index == first.count - 1
    assert last.sections[-1][0].kind is MemoryKind.QUOTE
    assert (first.closing, last.closing is None) == (None, False)


async def test_what_is_out_of_use_or_of_another_kind_is_on_no_leaf(told: Tale) -> None:
    assert await told.store.leaf_with(told.session_id, 2) is None
    assert await told.store.leaf_with(told.session_id, 5) is None, "it was tied"
    assert await told.store.leaf_with(told.session_id, 999) is None
    assert await told.store.leaf_with(told.session_id, 7, MemoryKind.QUOTE) is None


async def test_the_last_leaf_counts_what_is_raw_and_what_waits_to_be_written_anew(told: Tale) -> None:
    (turn,) = await told.store.turns(told.session_id, 9, 9)
    await told.store.edit_turn(turn.id, "Other.", (), 3, later(70), render)

    closing = (await told.store.leaf(told.session_id, 99)).closing

    assert closing is not None
    stale = [m for m in (await told.store.memory(told.session_id)).memories if m.status is MemoryStatus.STALE]
    assert (closing.raw_turns, closing.stale) == (0, len(stale))
    assert [(fold.kind.value, fold.chapter) for fold in closing.folds] == [("refold", 2)]


async def test_a_story_without_memories_has_one_leaf(tale: Tale) -> None:
    await tale.exchanges(1)

    leaf = await tale.store.leaf(tale.session_id, 5)

    assert (leaf.index, leaf.count, leaf.is_empty) == (0, 1, True)
    assert leaf.closing is not None
    assert leaf.closing.raw_turns == 2


async def test_there_is_no_leaf_of_no_story(store: Store) -> None:
    with pytest.raises(LookupError):
        await store.leaf(1, 0)


def test_lines_are_shared_out_to_leaves_in_order() -> None:
    counts = [3, 0, 2 * LINES, 1]
    found = [list(on_leaf(counts, index)) for index in range(4)]

    assert found == [
        [(0, 0, 3), (2, 0, LINES - 3)],
        [(2, LINES - 3, LINES)],
        [(2, 2 * LINES - 3, 3), (3, 0, 1)],
        [],
    ]
    assert [leaves(n) for n in (0, 1, LINES, LINES + 1)] == [1, 1, 1, 2]
