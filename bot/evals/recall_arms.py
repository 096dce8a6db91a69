"""The arms of an evaluation of recall: what each way of remembering has left at the end of a conversation.

All of them keep what they have by the bot's own policy: stretches leave the raw turns when it would fold them, and at the end the
rest does. So no arm but the sliding window is shown any raw turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from bot.evals.asking import Asker
from bot.evals.conversations import Conversation, Spoken
from bot.evals.recall_questions import LANGUAGES, language_of
from bot.evals.replaying import Remembered
from bot.memory import policy
from bot.memory.messages import Message
from bot.memory.policy import Budgets

SHORT: Final = "summary"
LONG: Final = "long-summary"
ARMS: Final[Mapping[str, str]] = {
    "nothing": "nothing",
    SHORT: "rewritten summary",
    LONG: "rewritten summary, same length as ours",
    "window": "sliding window",
    "chapters": "chapters",
    "ledger": "chapters + ledger",
    "recall": "all + recall",
}
"""The names of the arms, by what they are called on the command line."""
OURS: Final = ("chapters", "ledger", "recall")
"""The arms that have our memory, or parts of it."""
ROOM_FOR_ANSWER: Final = 900
"""Tokens of the window that instructions, question, recalled lines and answer may take."""
_MARGIN: Final = 64
# What 200 words of English or 400 characters of Japanese are. A summary may get so many times as long as it is asked to be: a
# cap against endless answers, no way to set their length.
_SHORT_TOKENS: Final = 300
_CAP: Final = 3
_SHORT: Final = {
    "en": "Write at most 200 words.",
    "ja": "Write at most 400 characters.",
    "zh": "Write at most 300 characters.",
}
_LONG: Final = "Write about {count} characters: use all of that length, and do not go beyond it."
_SUMMARY: Final = (
    "You keep the summary of a long talk between {player} and {character}. All of the talk but your summary is forgotten. Write "
    "the new summary: keep what matters of the old one, and add what the new part brings. Write plain text in {language}, and "
    "nothing but the summary. {length}"
)
_OLD: Final = "The old summary:\n{text}"
_NONE: Final = "There is no summary yet."
_NEW: Final = "The new part of the talk:\n{text}"


@dataclass(frozen=True, slots=True)
class ArmMemory:
    """What an arm has at the end: a text, and what it adds for a question by its id. ``cut`` counts what did not fit."""

    arm: str
    text: str
    tokens: int
    added: Mapping[str, str] = field(default_factory=dict)
    cut: Mapping[str, int] = field(default_factory=dict)

    @property
    def characters(self) -> int:
        """Of the text, and of what is added for a question on average."""
        added = sum(map(len, self.added.values())) / len(self.added) if self.added else 0
        return round(len(self.text) + added)


@dataclass(frozen=True, slots=True)
class _Sized:
    seq: int
    tokens: int
    tail_tokens: int = 0


async def arm_memory(
    arm: str,
    talk: Conversation,
    asker: Asker,
    budgets: Budgets,
    ours: Remembered | None,
    advance: Callable[[int], object],
) -> ArmMemory:
    """What an arm remembers of a conversation; ``ours`` is what the bot does. Raises ModelGone."""
    cut: Counter[str] = Counter()
    added: Mapping[str, str] = {}
    match arm:
        case "summary" | "long-summary":
            length = len(_of(ours).head) if arm == LONG else None
            text = await _rewritten(talk, asker, budgets, length, cut, advance)
        case "window":
            text = _newest(talk, asker, budgets, cut)
        case "chapters":
            text = _of(ours).events
        case "ledger":
            text = _of(ours).head
        case "recall":
            text, added = _of(ours).head, _of(ours).recalled
        case _:
            text = ""
    text = await _fitting(text, asker, budgets.window - ROOM_FOR_ANSWER, cut)
    tokens = await asker.count(text) if text else 0
    if added:
        tokens += round(sum([await asker.count(line) for line in added.values() if line]) / len(added))
    return ArmMemory(arm, text, tokens, added, dict(cut))


async def _rewritten(
    talk: Conversation,
    asker: Asker,
    budgets: Budgets,
    characters: int | None,
    cut: Counter[str],
    advance: Callable[[int], object],
) -> str:
    """One summary, rewritten with each stretch that leaves the raw turns."""
    language = language_of(talk)
    wanted = _SHORT_TOKENS if characters is None else asker.guess(_of_length(talk, characters))
    most = min(budgets.fold_output, _CAP * wanted)
    length = _SHORT[language] if characters is None else _LONG.format(count=max(200, characters))
    system = _SUMMARY.format(player=talk.player, character=talk.character, language=LANGUAGES[language], length=length)
    sizes = [_Sized(place, asker.guess(turn.line)) for place, turn in enumerate(talk.turns, start=1)]
    summary, folded = "", 0
    for upto in range(1, len(sizes) + 1):
        is_last = upto == len(sizes)
        # One more turn than there is, so that the last of them can be folded too.
        raw = sizes[folded:upto] if not is_last else [*sizes[folded:], _Sized(upto + 1, 1)]
        asked = replace(budgets, trigger=0, floor=1, room=1) if is_last else budgets
        for stretch in policy.plan_fold(raw, asked, asker.guess(summary)):
            part = talk.turns[stretch.first - 1 : stretch.last]
            summary = await _summary(system, summary, part, asker, budgets.window, most, cut)
            folded = stretch.last
        advance(1)
    return summary


async def _summary(
    system: str, old: str, part: Sequence[Spoken], asker: Asker, window: int, most: int, cut: Counter[str]
) -> str:
    """The summary with a stretch more, of at most ``most`` tokens; the old one where the model wrote none."""
    lines = [turn.line for turn in part]
    before = _OLD.format(text=old) if old else _NONE
    while True:
        shown = f"{before}\n\n{_NEW.format(text=chr(10).join(lines))}"
        over = await asker.count(f"{system}\n{shown}") + most + _MARGIN - window
        if over <= 0 or not lines:
            break
        while over > 0 and lines:
            over -= asker.guess(lines.pop(0)) + 1
            cut["turns that no summary was shown"] += 1
    said = await asker.prose("summaries", (Message("system", system), Message("user", shown)), most)
    if not said.text:
        cut["summaries that were not rewritten"] += 1
        return old
    cut["summaries cut by the limit of their length"] += said.was_cut
    return said.text


def _of_length(talk: Conversation, characters: int) -> str:
    """So much of the conversation: what that many characters take in tokens is a matter of its script."""
    return "\n".join(turn.line for turn in talk.turns)[: max(200, characters)]


def _newest(talk: Conversation, asker: Asker, budgets: Budgets, cut: Counter[str]) -> str:
    """The newest turns that take what our memory and raw turns may take together before a fold: the trigger."""
    room = min(budgets.trigger, budgets.window - ROOM_FOR_ANSWER)
    cut["sliding windows smaller than the trigger"] += room < budgets.trigger
    lines: list[str] = []
    for turn in reversed(talk.turns):
        room -= asker.guess(turn.line) + 1
        if room < 0:
            break
        lines.insert(0, turn.line)
    return "\n".join(lines)


async def _fitting(text: str, asker: Asker, room: int, cut: Counter[str]) -> str:
    """The text less so many of its last lines that the rest fits the model's window beside a question."""
    while text and await asker.count(text) > room:
        cut["memories cut to the window"] = 1
        text = text[: len(text) * 9 // 10]
    return text


def _of(ours: Remembered | None) -> Remembered:
    if ours is None:
        raise RuntimeError("this arm needs the conversation to be played")
    return ours
