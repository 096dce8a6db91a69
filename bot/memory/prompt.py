"""Laying out the prompt of a reply: stable things first, nothing volatile before the tail.

Two prompts of a session share their whole prefix up to the newest turn, because each part is a function of rows that only
a fold, a correction or an edit changes, because a reply stands in the history exactly as the model wrote it, and because what
was put before a turn stays there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.memory.markup import plain_name
from bot.memory.memories import Memory, MemoryKind, SessionMemory
from bot.memory.messages import Message, Role
from bot.memory.turns import Turn
from bot.memory.wording import WORDINGS, Language

_INDENT: Final = "\n    "
_SHORTEST_GAP: Final = timedelta(hours=3)
_SHARE_OF_ENDS: Final = 4
_LEAVES_FIRST: Final = (MemoryKind.QUOTE, MemoryKind.CLAIM, MemoryKind.EVENT, MemoryKind.SECRET, MemoryKind.FACT)


@dataclass(frozen=True, slots=True)
class Card:
    """Who the bot plays. ``first_message`` greets the players; it is a turn of its own when used."""

    name: str
    description: str
    first_message: str = ""


def system_text(card: Card, language: Language, *, json_reply: bool) -> str:
    """The system prompt: the same bytes for every session of a character in a language."""
    words = WORDINGS[language]
    return "\n\n".join(
        (
            words.card.format(name=card.name, description=card.description.strip()),
            words.rules.format(name=card.name)
            + "\n"
            + (words.rules_json.format() if json_reply else words.rules_markup),
        )
    )


def memory_text(memory: SessionMemory, language: Language, *, open_ends: int) -> str:
    """The memory as the head of the history shows it; ``open_ends`` is how many of the newest loose ends are named."""
    words = WORDINGS[language]
    parts = [words.heading]
    old = memory.of_synopsis()
    if old:
        parts.append(_section(words.synopsis, old, language))
    parts += [
        _section(words.chapter.format(ordinal=chapter.ordinal), memory.of_chapter(chapter), language)
        for chapter in memory.chapters
        if not chapter.absorbed and memory.of_chapter(chapter)
    ]
    newest = memory.open_ends()[-open_ends:] if open_ends > 0 else ()
    if newest:
        parts.append(_section(words.open_ends, newest, language))
    if memory.quotes():
        parts.append(_section(words.quotes, memory.quotes(), language))
    return "\n\n".join(parts if len(parts) > 1 else [*parts, words.nothing_yet])


def fitting(
    memory: SessionMemory, language: Language, cap: int, size: Callable[[str], int], *, open_ends: int
) -> SessionMemory:
    """The memory less what does not fit a cap, in tokens as ``size`` counts them; the store keeps it all.

    The rule: the newest ``open_ends`` loose ends are shown, and of these only as many of the newest as a quarter of the cap
    holds. While the whole text, headings and all, is over the cap, the other lines leave from the oldest, quotes first, then
    claims, events, secrets and facts. What a moderator settled leaves last, among the loose ends too. The text is over the cap
    only when three quarters of it cannot hold the headings.
    """
    ends = memory.open_ends()
    shown = ends[-open_ends:] if open_ends > 0 else ()
    over = sum(size(_item(m, language)) for m in shown) - cap // _SHARE_OF_ENDS
    gone = {m.number for m in ends} - {m.number for m in shown}
    gone |= _leaving(sorted(shown, key=lambda m: (m.corrected, m.number)), over, language, size)
    lines = [m for m in memory.memories if m.is_active and m.kind is not MemoryKind.LOOSE_END]
    lines.sort(key=lambda m: (m.corrected, _LEAVES_FIRST.index(m.kind), m.number))
    while True:
        left = replace(memory, memories=tuple(m for m in memory.memories if m.number not in gone))
        over = size(memory_text(left, language, open_ends=open_ends)) - cap
        lines = [m for m in lines if m.number not in gone]
        if over <= 0 or not lines:
            return left
        gone |= _leaving(lines, over, language, size)


def _leaving(lines: Sequence[Memory], over: int, language: Language, size: Callable[[str], int]) -> set[int]:
    """The numbers of the first lines that have to leave so that so many tokens are saved; none when it is nothing."""
    gone: set[int] = set()
    for m in lines:
        if over <= 0:
            break
        gone.add(m.number)
        over -= size(_item(m, language))
    return gone


def memory_line(memory: Memory, language: Language) -> str:
    """One memory in words: a claim with its speaker, a secret with both sides."""
    words, what = WORDINGS[language], memory.content
    fields = {"speaker": what.speaker, "addressee": what.addressee, "text": what.text, "actual": what.actual}
    match what.kind:
        case MemoryKind.CLAIM:
            return (words.claim_to if what.addressee else words.claim).format(**fields)
        case MemoryKind.SECRET:
            return words.secret.format(**fields)
        case MemoryKind.QUOTE:
            return words.quote.format(**fields)
        case _:
            return what.text


def turn_text(turn: Turn) -> str:
    """A turn as the history shows it: replies byte for byte; a player's text behind their name.

    Line breaks of a player's text are indented, so that a forged ``Name:`` line cannot start a line of its own.
    """
    if not turn.author.is_player:
        return turn.raw
    lines = [line.strip() for line in turn.raw.splitlines() if line.strip()]
    return f"{plain_name(turn.author.name)}: " + _INDENT.join(lines)


def tail_text(gap: timedelta | None, language: Language, recalled: Sequence[str] = ()) -> str:
    """What stands before the newest turn: what was recalled for it, each on a line, and the time since the last turn.

    The time is told from three hours on, in whole hours or days.
    """
    return "\n".join([*recalled, *_time_passed(gap, language)])


def build(system: str, memory: str, turns: Sequence[Turn], language: Language) -> tuple[Message, ...]:
    """The messages of a reply's prompt. ``turns`` are the raw ones that stay with their tails, the newest last.

    Roles alternate strictly, as some chat templates demand: neighbouring turns of players share a message, and a fixed
    line stands between two replies.
    """
    words = WORDINGS[language]
    messages = [
        Message("system", system),
        Message("user", memory),
        Message("assistant", words.acknowledged),
    ]
    for turn in turns:
        text = f"{turn.tail}\n{turn_text(turn)}" if turn.tail else turn_text(turn)
        role: Role = "user" if turn.author.is_player else "assistant"
        if messages[-1].role != role:
            messages.append(Message(role, text))
        elif role == "user":
            messages[-1] = Message("user", f"{messages[-1].content}\n{text}")
        else:
            messages += [Message("user", words.goes_on), Message("assistant", text)]
    if messages[-1].role == "assistant":
        messages.append(Message("user", words.goes_on))
    return tuple(messages)


def flat(messages: Sequence[Message]) -> str:
    """The messages as one text with role marks, to compare prompts and to count them."""
    return "".join(f"<{message.role}>\n{message.content}\n" for message in messages)


def _time_passed(gap: timedelta | None, language: Language) -> tuple[str, ...]:
    if gap is None or gap < _SHORTEST_GAP:
        return ()
    words = WORDINGS[language]
    if gap < timedelta(days=2):
        return (words.hours_passed.format(count=int(gap.total_seconds() // 3600)),)
    return (words.days_passed.format(count=gap.days),)


def _section(title: str, memories: Sequence[Memory], language: Language) -> str:
    return "\n".join([f"## {title}", *(_item(memory, language) for memory in memories)])


def _item(memory: Memory, language: Language) -> str:
    return f"- {memory_line(memory, language)}"
