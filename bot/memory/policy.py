"""When to fold, how much, and what to do when nothing was folded in time. All figures are tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

WIDE_WINDOW: Final = 200_000
LOCAL_WINDOW: Final = 65_536


class Sized(Protocol):
    """Anything with a place in the story and a size in tokens; what was put before it when it was answered has its own."""

    @property
    def seq(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def tail_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of a profile, in tokens. The figures are those of the seed article, for a window of 64k."""

    window: int = LOCAL_WINDOW
    trigger: int = 30_000
    ceiling: int = 36_000
    floor: int = 10_000
    room: int = 11_000
    stretch: int = 20_000
    chapters_total: int = 5_000
    fold_output: int = 4_096
    reply_output: int = 1_024
    open_ends: int = 12

    @property
    def memory_cap(self) -> int:
        """The most that the rendered memory may take: what leaves the floor and the room below the trigger."""
        return max(200, self.trigger - self.room - self.floor)

    def prompt_limit(self, system_tokens: int) -> int:
        """The most that memory and raw turns may take together, so that prompt and reply fit the window.

        A twenty-fifth of the window is kept free for the tail and for counting errors.
        """
        return min(self.ceiling, self.window - system_tokens - self.reply_output - self.window // 25)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns ``first`` to ``last``, both included, that become one chapter."""

    first: int
    last: int


def budgets_for(window: int | None, *, reply_output: int = 1_024, profile: str = "auto") -> Budgets:
    """The profile for a window in tokens; an unknown window counts as the local one.

    From 200,000 tokens on, raw turns are cheaper than forgetting: the trigger is 125,000. Below 64k everything shrinks in
    proportion, so that a small window folds early instead of overflowing.
    """
    size = window or LOCAL_WINDOW
    local = Budgets(window=size, reply_output=min(reply_output, size // 4))
    wide = profile == "wide" or (profile == "auto" and size >= WIDE_WINDOW)
    if wide:
        share = 125_000 / local.trigger
        return replace(
            local,
            trigger=125_000,
            ceiling=round(local.ceiling * share),
            floor=round(local.floor * share),
            room=round(local.room * share),
        )
    if size >= LOCAL_WINDOW:
        return local
    share = size / LOCAL_WINDOW
    return replace(
        local,
        trigger=round(local.trigger * share),
        ceiling=round(local.ceiling * share),
        floor=round(local.floor * share),
        room=round(local.room * share),
        stretch=round(local.stretch * share),
        chapters_total=round(local.chapters_total * share),
        fold_output=min(local.fold_output, size // 4),
    )


def crosses_trigger(budgets: Budgets, raw_tokens: int, memory_tokens: int) -> bool:
    """Whether a fold is due."""
    return raw_tokens + memory_tokens > budgets.trigger


def raw_kept(budgets: Budgets, memory_tokens: int, chapter_tokens: int = 0) -> int:
    """How much stays raw after a fold: the room below the trigger is constant, the floor is never touched.

    ``chapter_tokens`` is what the chapter to come is expected to take.
    """
    return max(budgets.floor, budgets.trigger - budgets.room - memory_tokens - chapter_tokens)


def plan_fold(
    turns: Sequence[Sized], budgets: Budgets, memory_tokens: int, chapter_tokens: int = 0
) -> tuple[Stretch, ...]:
    """The stretches to fold now, oldest first; empty while nothing is over.

    ``turns`` are the raw turns in order, the newest last. Tails count towards the trigger, and are gone after the fold. Turns
    are folded until no more stays raw than ``raw_kept`` says, as long as the floor stays. Each stretch is at most
    ``budgets.stretch`` long, unless a single turn is longer. The newest turn is never folded.
    """
    total = sum(turn.tokens for turn in turns)
    if not crosses_trigger(budgets, total + _tails(turns), memory_tokens):
        return ()
    kept = raw_kept(budgets, memory_tokens, chapter_tokens)
    stretches: list[Stretch] = []
    first: int | None = None
    last = size = 0
    left = total
    for turn in turns[:-1]:
        if left <= kept or left - turn.tokens < budgets.floor:
            break
        if first is not None and size + turn.tokens > budgets.stretch:
            stretches.append(Stretch(first, last))
            first, size = None, 0
        first = turn.seq if first is None else first
        last, size, left = turn.seq, size + turn.tokens, left - turn.tokens
    if first is not None:
        stretches.append(Stretch(first, last))
    return tuple(stretches)


def cut_from(turns: Sequence[Sized], budgets: Budgets, memory_tokens: int, limit: int) -> int | None:
    """The seq from which raw turns stay in the prompt when they no longer fit, tails included; None while they do.

    Cut in one piece, tails first, down to what a fold would leave, so that the prompt grows again for a while instead of
    losing its head each turn. The newest turn always stays.
    """
    total = sum(turn.tokens for turn in turns)
    if total + _tails(turns) + memory_tokens <= limit or len(turns) < 2:
        return None
    keep = min(raw_kept(budgets, memory_tokens), max(0, limit - memory_tokens))
    for turn in turns[:-1]:
        if total <= keep:
            return turn.seq
        total -= turn.tokens
    return turns[-1].seq


def _tails(turns: Sequence[Sized]) -> int:
    return sum(turn.tail_tokens for turn in turns)


def oldest_half(sizes: Sequence[int], budgets: Budgets) -> int:
    """How many of the oldest chapters a major fold takes: none until their total, in tokens, passes the budget.

    Of an odd number the smaller half; of two, one.
    """
    if len(sizes) < 2 or sum(sizes) <= budgets.chapters_total:
        return 0
    return len(sizes) // 2
