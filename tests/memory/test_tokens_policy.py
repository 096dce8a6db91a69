"""Counting tokens without a tokenizer, and the figures by which stories are folded."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.policy import (
    Budgets,
    Stretch,
    budgets_for,
    crosses_trigger,
    cut_from,
    oldest_half,
    plan_fold,
    raw_kept,
)
from bot.memory.tokens import Script, TokenRatio, estimate, script_of


@dataclass(frozen=True)
class Piece:
    seq: int
    tokens: int
    tail_tokens: int = 0


def pieces(*sizes: int) -> list[Piece]:
    return [Piece(seq, tokens) for seq, tokens in enumerate(sizes, start=1)]


LOCAL = Budgets()


# Tokens


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("The rain stopped.", Script.LATIN),
        ("Çok güzel, değil mi?", Script.LATIN),
        ("雨が止んだ。", Script.JAPANESE),
        ("雨停了，我们走吧。", Script.CHINESE),
        ("カラオケ", Script.JAPANESE),
        ("Привет, как дела", Script.OTHER),
        ("Juno said「雨が止んだ」", Script.JAPANESE),
        ("", Script.LATIN),
    ],
)
def test_the_script_of_a_text(text: str, script: Script) -> None:
    assert script_of(text) is script


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("word " * 780, 950, 1050),
        ("雨が止んだのです" * 175, 950, 1050),
        ("雨停了我们走" * 183, 950, 1050),
    ],
)
def test_an_estimate_follows_the_measured_characters_per_token(text: str, least: int, most: int) -> None:
    assert least <= estimate(text) <= most


SCRIPTS = {
    # 豈 to 﫿 has Hangul in it, which is as dense.
    "kana": "[぀-ヿㇰ-ㇿｦ-ﾟ]",
    "han": "[㐀-\ud7ff\ue000-\ufaff𠀀-𯿿　-〿＀-￯]",
    "latin": "[\\x00-ɏ‐-‟]",
}


@given(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.text("aé凛のカﾟＡ。—…한\ua000😀𠮟𰻞\u3040\u30ff\u2010\u024f\u0250")
)
def test_whole_texts_are_counted_as_character_by_character(text: str) -> None:
    counts = {name: len(re.findall(letters, text)) for name, letters in SCRIPTS.items()}
    others = len(text) - sum(counts.values())
    wide = 1.4 if counts["kana"] and counts["kana"] * 8 >= counts["han"] else 1.1
    tokens = (counts["kana"] + counts["han"]) / wide + counts["latin"] / 3.9 + max(0, others) / 1.6
    assert estimate(text) == math.ceil(tokens)


def test_a_character_of_japanese_is_worth_nearly_three_of_english() -> None:
    assert 2.5 < estimate("あ" * 3_900) / estimate("a" * 3_900) < 3


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_never_fewer_tokens(left: str, right: str) -> None:
    assert 0 <= estimate(left) <= estimate(left + right) + len(left)
    assert (estimate(left) == 0) is (left == "")


def test_a_ratio_learns_fades_and_stays_in_bounds() -> None:
    ratio = TokenRatio("m", Script.LATIN)
    assert ratio.tokens("a" * 390) == 100
    assert ratio.seen(0, 5) is ratio
    assert ratio.seen(5, 0) is ratio
    ratio = ratio.seen(1_000, 1_500)
    assert ratio.factor == pytest.approx(1.5)
    assert ratio.tokens("a" * 390) == 150
    for _ in range(200):
        ratio = ratio.seen(1_000, 500)
    assert ratio.estimated <= 50_000
    assert ratio.factor == pytest.approx(0.5, abs=0.05)
    assert TokenRatio("m", Script.LATIN).seen(10, 10_000).factor == 3.0
    assert TokenRatio("m", Script.LATIN).seen(10_000, 10).factor == 0.4


# Budgets


@pytest.mark.parametrize(
    ("window", "trigger", "ceiling", "floor", "room", "stretch", "chapters"),
    [
        (None, 30_000, 36_000, 10_000, 11_000, 20_000, 5_000),
        (65_536, 30_000, 36_000, 10_000, 11_000, 20_000, 5_000),
        (131_072, 30_000, 36_000, 10_000, 11_000, 20_000, 5_000),
        (199_999, 30_000, 36_000, 10_000, 11_000, 20_000, 5_000),
        (200_000, 125_000, 150_000, 41_667, 45_833, 20_000, 5_000),
        (1_000_000, 125_000, 150_000, 41_667, 45_833, 20_000, 5_000),
        (32_768, 15_000, 18_000, 5_000, 5_500, 10_000, 2_500),
        (8_192, 3_750, 4_500, 1_250, 1_375, 2_500, 625),
    ],
)
def test_the_profile_of_a_window(
    window: int | None, trigger: int, ceiling: int, floor: int, room: int, stretch: int, chapters: int
) -> None:
    found = budgets_for(window)
    assert (found.trigger, found.ceiling, found.floor, found.room) == (trigger, ceiling, floor, room)
    assert (found.stretch, found.chapters_total) == (stretch, chapters)
    assert found.window == (window or 65_536)
    assert found.fold_output <= 4_096


def test_a_profile_can_be_overridden() -> None:
    assert budgets_for(400_000, profile="local").trigger == 30_000
    assert budgets_for(131_072, profile="wide").trigger == 125_000


@given(st.integers(1_024, 2_000_000), st.integers(1, 8_192))
def test_budgets_leave_room_for_a_reply(window: int, reply_output: int) -> None:
    budgets = budgets_for(window, reply_output=reply_output)
    assert budgets.floor < budgets.trigger <= budgets.ceiling < window
    assert budgets.reply_output <= window // 4
    assert budgets.memory_cap + budgets.floor + budgets.room <= budgets.trigger + 200
    assert budgets.prompt_limit(0) + budgets.reply_output <= window


# Folding


def test_the_trigger_counts_raw_turns_and_memory() -> None:
    assert not crosses_trigger(LOCAL, 30_000, 0)
    assert crosses_trigger(LOCAL, 30_001, 0)
    assert crosses_trigger(LOCAL, 25_000, 5_001)
    assert not crosses_trigger(LOCAL, 25_000, 5_000)


@pytest.mark.parametrize(
    ("memory", "chapter", "kept"),
    [(0, 0, 19_000), (3_000, 0, 16_000), (3_000, 700, 15_300), (9_000, 0, 10_000), (12_000, 0, 10_000)],
)
def test_as_memory_grows_raw_turns_shrink_and_the_room_stays(memory: int, chapter: int, kept: int) -> None:
    assert raw_kept(LOCAL, memory, chapter) == kept


@pytest.mark.parametrize(
    ("sizes", "memory", "plan"),
    [
        ([1_000] * 30, 0, []),
        ([1_000] * 31, 0, [(1, 12)]),
        ([1_000] * 28, 3_000, [(1, 12)]),
        ([1_000] * 50, 0, [(1, 20), (21, 31)]),
        ([1_000] * 80, 6_000, [(1, 20), (21, 40), (41, 60), (61, 67)]),
        ([25_000, *[1_000] * 12], 0, [(1, 1)]),
        ([2_000, 24_000, *[1_000] * 12], 0, [(1, 1), (2, 2)]),
        # What would have to go leaves less than the floor.
        ([25_000, 5_000, 1_000], 0, []),
        ([40_000], 0, []),
        ([], 40_000, []),
    ],
)
def test_a_plan_takes_the_oldest_in_stretches(sizes: list[int], memory: int, plan: list[tuple[int, int]]) -> None:
    assert [(s.first, s.last) for s in plan_fold(pieces(*sizes), LOCAL, memory)] == plan


def test_a_long_turn_in_a_small_window_is_folded_too() -> None:
    """Two thousand and nine hundred tokens are a message of 4,000 Japanese characters."""
    assert plan_fold(pieces(2_900, 800, 600), budgets_for(8_192), 0) == (Stretch(1, 1),)


def test_a_story_that_moves_from_a_wide_window_to_a_narrow_one_is_folded_in_stretches() -> None:
    story = pieces(*[500] * 200)
    assert plan_fold(story, budgets_for(200_000), 4_000) == ()
    plan = plan_fold(story, LOCAL, 4_000)
    assert len(plan) == 5
    assert all((s.last - s.first + 1) * 500 <= 20_000 for s in plan)
    assert (200 - plan[-1].last) * 500 == 15_000


SIZES = st.lists(st.integers(1, 6_000), max_size=80)
MEMORY = st.integers(0, 15_000)
WINDOWS = st.sampled_from([None, 8_192, 16_384, 65_536, 200_000])


@given(SIZES, MEMORY, WINDOWS, st.integers(0, 1_000))
def test_every_plan_keeps_its_word(sizes: list[int], memory: int, window: int | None, chapter: int) -> None:
    budgets = budgets_for(window)
    story = pieces(*sizes)
    plan = plan_fold(story, budgets, memory, chapter)
    if not crosses_trigger(budgets, sum(sizes), memory):
        assert plan == ()
    if not plan:
        return
    assert plan[0].first == 1
    assert all(right.first == left.last + 1 for left, right in pairwise(plan))
    assert all(s.first <= s.last < len(story) for s in plan)
    for s in plan:
        assert s.first == s.last or sum(sizes[s.first - 1 : s.last]) <= budgets.stretch
    left = sum(sizes[plan[-1].last :])
    next_turn = sizes[plan[-1].last]
    assert left >= budgets.floor
    kept = raw_kept(budgets, memory, chapter)
    assert left <= kept or left - next_turn < budgets.floor or plan[-1].last == len(story) - 1


@given(SIZES, MEMORY)
def test_after_a_plan_the_room_is_there_when_turns_are_of_common_size(sizes: list[int], memory: int) -> None:
    common = [min(size, 1_000) for size in sizes] * 2
    plan = plan_fold(pieces(*common), LOCAL, memory)
    if plan and memory <= LOCAL.memory_cap:
        assert sum(common[plan[-1].last :]) + memory <= LOCAL.trigger - LOCAL.room + 1_000


@given(SIZES.filter(bool), MEMORY, st.integers(-5_000, 40_000), WINDOWS)
def test_a_forced_cut_fits_or_leaves_the_newest_alone(
    sizes: list[int], memory: int, limit: int, window: int | None
) -> None:
    budgets = budgets_for(window)
    story = pieces(*sizes)
    start = cut_from(story, budgets, memory, limit)
    if start is None:
        assert sum(sizes) + memory <= limit or len(sizes) == 1
        return
    assert 1 <= start <= len(story)
    left = sum(sizes[start - 1 :])
    assert left + memory <= limit or start == len(story)


def test_a_forced_cut_is_deep_so_that_the_next_turns_fit() -> None:
    assert cut_from(pieces(*[1_000] * 36), LOCAL, 0, 36_000) is None
    start = cut_from(pieces(*[1_000] * 37), LOCAL, 0, 36_000)
    assert start == 19
    assert cut_from(pieces(*[1_000] * 37)[18:], LOCAL, 0, 36_000) is None


def test_tails_count_until_they_go() -> None:
    story = [Piece(p.seq, p.tokens, 200) for p in pieces(*[1_000] * 28)]
    assert plan_fold(pieces(*[1_000] * 28), LOCAL, 0) == ()
    assert plan_fold(story, LOCAL, 0) == (Stretch(1, 9),), "28,000 and 5,600 are over the trigger; 19,000 stay raw"
    assert cut_from(story, LOCAL, 0, 33_000) == 10
    assert cut_from(story[10:], LOCAL, 0, 20_000) == 11, "without its tails it fits"
    assert cut_from(story[10:], LOCAL, 0, 22_000) is None


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([], 0),
        ([9_000], 0),
        ([2_500, 2_500], 0),
        ([2_500, 2_501], 1),
        ([2_000] * 3, 1),
        ([2_000] * 6, 3),
        ([2_000] * 7, 3),
    ],
)
def test_a_major_fold_takes_the_oldest_half(sizes: list[int], taken: int) -> None:
    assert oldest_half(sizes, LOCAL) == taken
