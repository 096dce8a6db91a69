"""The head of a prompt is decided by the lines that stay in it: what an old story has besides need not be read."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot import rendering
from bot.counting import TokenCounter
from bot.memory.memories import Chapter, Content, Memory, MemoryKind, MemoryStatus, NewMemory, SessionMemory
from bot.memory.policy import Budgets
from bot.memory.prompt import last_to_leave
from bot.memory.story import Head
from bot.memory.turns import Citation
from bot.rendering import Renderer
from bot.store import Store, views
from tests.store.tale import begin, later
from tests.support.databases import lay

READ = 5


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(lay(tmp_path / "story.db"), migrate=False) as opened:
        yield opened


class Counter(TokenCounter):
    """Counts by the table alone: it was never told anything else."""

    def __init__(self) -> None:
        self._ratios = {}


@pytest.fixture(autouse=True)
def few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_READ", READ)
    monkeypatch.setattr(views, "_LINES_AT_FIRST", 3)


LINES = st.tuples(
    st.sampled_from(MemoryKind), st.text("ab 漢字かな。", min_size=1, max_size=120), st.booleans(), st.integers(1, 9)
)


def with_cap(cap: int, open_ends: int) -> Budgets:
    return Budgets(trigger=cap + 20, room=10, floor=10, open_ends=open_ends)


@settings(max_examples=150)
@given(st.lists(LINES, max_size=50), st.integers(200, 900), st.integers(0, 6))
def test_a_head_that_is_full_is_the_same_with_all_that_leaves_before(
    lines: list[tuple[MemoryKind, str, bool, int]], cap: int, open_ends: int
) -> None:
    rows = tuple(
        Memory(number, Content(kind, text, "Rin"), chapter=chapter, corrected=corrected)
        for number, (kind, text, corrected, chapter) in enumerate(lines, start=1)
    )
    whole = SessionMemory(tuple(Chapter(n, n, n, absorbed=n < 3) for n in range(1, 10)), rows)
    renderer, budgets = Renderer(Counter()), with_cap(cap, open_ends)
    wanted = renderer.head(whole, "en", budgets)
    ends, ranked = whole.open_ends(), last_to_leave(whole)
    for most in range(len(ranked) + 1):
        kept = {m.number for m in (*ranked[:most], *ends)}
        head = renderer.head(replace(whole, memories=tuple(m for m in rows if m.number in kept)), "en", budgets)
        if head.is_full:
            assert replace(head, is_full=wanted.is_full) == wanted
        elif most == len(ranked):
            assert head == wanted


@pytest.mark.parametrize("seed", range(3))
async def test_what_the_store_keeps_is_what_the_whole_memory_makes(store: Store, seed: int) -> None:
    lot = random.Random(seed)
    tale = await begin(store)
    for chapter in range(6):
        await tale.exchanges(1)
        found = [
            NewMemory(
                Content(
                    lot.choice(list(MemoryKind)), lot.choice(("wheel ", "灯台の話", "光。")) * lot.randint(1, 12), "Rin"
                ),
                (Citation(2 * chapter + 1, 1),),
            )
            for _ in range(12)
        ]
        await tale.chapter(2 * chapter + 1, 2 * chapter + 2, *found)
    memory = await store.memory(tale.session_id)
    for line in lot.sample(memory.memories, 8):
        status = lot.choice((MemoryStatus.ACTIVE, MemoryStatus.RETRACTED))
        changed = replace(line, status=status, corrected=True, cites=(), condenses=())
        await store.save_correction(
            tale.session_id, line.version, changed, by="9", reason="", at=later(60), render=lambda _: Head("", 0)
        )
    events = [m.number for m in memory.memories if m.kind is MemoryKind.EVENT and m.chapter in (1, 2)]
    memory = await store.memory(tale.session_id)
    usable = [n for n in events if (m := memory.get(n)) is not None and m.is_active and not m.corrected]
    await tale.synopsis([1, 2], NewMemory(Content(MemoryKind.EVENT, "So it began."), condenses=tuple(usable)))
    session, memory = await store.session(tale.session_id), await store.memory(tale.session_id)
    assert session is not None
    renderer, full = Renderer(Counter()), 0
    for cap in range(200, 1_200, 90):
        budgets = with_cap(cap, lot.randint(0, 12))

        await store.render_again(session.id, renderer.for_session(session, budgets))

        wanted = renderer.head(memory, "en", budgets)
        full += wanted.is_full
        snapshot = await store.snapshot(session.id)
        assert (snapshot.memory_text, snapshot.session.memory_tokens) == (wanted.text, wanted.tokens)
    assert full > 3, "most of these caps are too small for it all"
