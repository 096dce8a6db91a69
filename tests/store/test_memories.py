from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.memory.corrections import Correction, CorrectionKind, corrected
from bot.memory.memories import Memory, MemoryKind, MemoryStatus
from bot.memory.turns import TurnState
from tests.store.tale import Tale, condensed, event, later, loose_end, render

MODERATOR = 4242


@pytest.fixture
async def told(tale: Tale) -> Tale:
    """Two exchanges and a chapter of two events."""
    await tale.exchanges(3)
    await tale.chapter(1, 4, event("Rin is the queen.", 1, 2), event("They talked.", 3))
    return tale


def _retract(memory: Memory) -> Memory:
    return corrected(memory, Correction(CorrectionKind.RETRACT, MODERATOR, "no"), speaker="Rin", history=())


async def _save(tale: Tale, expected: int, memory: Memory, reason: str = "a lie") -> bool:
    return await tale.store.save_correction(
        tale.session_id, expected, memory, by=str(MODERATOR), reason=reason, at=later(35), render=render
    )


async def test_a_correction_is_a_new_version_and_changes_the_head(told: Tale) -> None:
    correction = Correction(CorrectionKind.SAID_NOT_TRUE, MODERATOR, "a lie")
    after = corrected(await told.memory(1), correction, speaker="Rin", history=())
    assert await _save(told, 1, replace(after, content=replace(after.content, text="Rin says she is.")))

    stored = await told.memory(1)
    assert (stored.kind, stored.content.speaker, stored.version) == (MemoryKind.CLAIM, "Rin", 2)
    assert stored.corrected
    first, second = (await told.store.histories(told.session_id, [1]))[1]
    assert (first.content.text, first.by) == ("Rin is the queen.", "fold")
    assert (second.content, second.status) == (stored.content, MemoryStatus.ACTIVE)
    assert (second.version, second.by, second.reason, second.at) == (2, "4242", "a lie", later(35))
    assert await told.head() == "[1] 1:Rin says she is. | 2:They talked."


async def test_a_correction_of_an_older_version_is_not_written(told: Tale) -> None:
    memory = await told.memory(1)
    assert await _save(told, 1, _retract(memory))
    head = await told.head()
    assert not await _save(told, 1, replace(memory, content=replace(memory.content, text="Too late."), version=2))
    assert not await _save(told, 1, replace(memory, number=99))

    assert (await told.memory(1)).status is MemoryStatus.RETRACTED
    assert len((await told.store.histories(told.session_id, [1]))[1]) == 2
    assert await told.head() == head == "[1] 2:They talked."


async def test_of_many_corrections_at_once_one_is_written(told: Tale) -> None:
    memory = await told.memory(1)
    texts = [f"Wording {number}." for number in range(10)]
    saved = await asyncio.gather(
        *(_save(told, 1, replace(memory, content=replace(memory.content, text=text), version=2)) for text in texts)
    )

    assert sum(saved) == 1
    assert (await told.memory(1)).content.text == texts[saved.index(True)]
    assert len((await told.store.histories(told.session_id, [1]))[1]) == 2


async def test_a_correction_can_be_undone(told: Tale) -> None:
    before = await told.memory(1)
    assert await _save(told, 1, _retract(before))
    history = (await told.store.histories(told.session_id, [1]))[1]
    restore = Correction(CorrectionKind.RESTORE, MODERATOR, "it was true")
    restored = corrected(await told.memory(1), restore, speaker="Rin", history=history)
    assert await _save(told, 2, restored, "it was true")

    assert await told.memory(1) == replace(before, version=3)
    assert await told.head() == "[1] 1:Rin is the queen. | 2:They talked."


async def test_a_detail_shows_where_a_memory_comes_from(told: Tale) -> None:
    (reply,) = await told.store.turns(told.session_id, 2, 2)
    tied = 9_000_000
    await told.store.tie_messages(reply.id, 1, [tied + 1, tied])
    (asked,) = await told.store.turns(told.session_id, 1, 1)
    await told.store.tie_messages(asked.id, 1, [tied + 9])
    await told.store.delete_turns([tied + 9], later(), render)
    detail = await told.store.detail(told.session_id, 1)

    assert detail is not None
    assert detail.memory == await told.memory(1)
    assert [version.by for version in detail.history] == ["fold", "deletion"]
    (first, _), (second, messages) = detail.turns
    assert (first.seq, first.state, first.raw) == (1, TurnState.DELETED, "")
    assert second == reply
    assert messages == (tied, tied + 1)
    assert await told.store.detail(told.session_id, 99) is None


async def test_a_detail_of_a_condensed_line_names_what_it_stands_for(told: Tale) -> None:
    assert await told.synopsis([1], condensed("All of it.", 2, 1))
    detail = await told.store.detail(told.session_id, 3)

    assert detail is not None
    assert (detail.memory.condenses, detail.turns) == ((2, 1), ())


async def test_an_archive_holds_the_whole_story(told: Tale) -> None:
    await told.chapter(5, 6, loose_end("Where is the key?", 5))
    await told.player("Not answered.")
    begun = await told.store.begin_reply(told.session_id, later())
    assert begun is not None
    archive = await told.store.archive(told.session_id)

    assert archive is not None
    assert archive.session == await told.store.session(told.session_id)
    assert [turn.seq for turn in archive.turns] == [1, 2, 3, 4, 5, 6, 7]
    assert archive.memory == await told.store.memory(told.session_id)
    assert archive.histories == await told.store.histories(told.session_id, [1, 2, 3])
    assert list(archive.histories) == [1, 2, 3]


async def test_a_session_without_memories(tale: Tale) -> None:
    memory = await tale.store.memory(tale.session_id)

    assert (memory.chapters, memory.memories) == ((), ())
    assert await tale.store.histories(tale.session_id, [1]) == {}
    assert await tale.store.histories(tale.session_id, []) == {}


async def test_the_newest_in_use_the_settled_and_the_named_are_offered(told: Tale) -> None:
    found = [event(f"Lamp {number} was lit.", 1) for number in range(30)]
    await told.exchanges(1)
    seq = (await told.store.snapshot(told.session_id)).turns[-1].seq
    first = (await told.store.memory(told.session_id)).folded_to + 1
    assert await told.chapter(first, seq, *found)
    lamp = await told.memory(6)
    settled = replace(lamp, status=MemoryStatus.RETRACTED, corrected=True)
    assert await told.store.save_correction(
        told.session_id, lamp.version, settled, by="9", reason="", at=later(60), render=render
    )
    newest = [m.number for m in (await told.store.memory(told.session_id)).memories if m.is_active][-25:]

    offered = [m.number for m in await told.store.newest_memories(told.session_id, 1)]
    unnamed = [m.number for m in await told.store.newest_memories(told.session_id)]

    assert offered == [1, 6, *newest]
    assert unnamed == [6, *newest]
