"""Laying out the prompt of a reply: stable things first, nothing volatile before the tail.

Two prompts of a session share their whole prefix up to the newest turn, because each part is a function of rows that only
a fold, a correction or an edit changes, because a reply stands in the history exactly as the model wrote it, and because what
was put before a turn stays there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.memory.lore import LoreBook, LoreEntry, constant_entries, matching, with_keys
from bot.memory.macros import filled
from bot.memory.markup import plain_name, shown
from bot.memory.memories import Memory, MemoryKind, SessionMemory
from bot.memory.messages import Message, Role
from bot.memory.turns import Turn
from bot.memory.wording import WORDINGS, Language

_INDENT: Final = "\n    "
_START: Final = re.compile(r"^[ \t]*<START>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_SHORTEST_GAP: Final = timedelta(hours=3)
_SHARE_OF_ENDS: Final = 4
LEAVES_FIRST: Final = (MemoryKind.QUOTE, MemoryKind.CLAIM, MemoryKind.EVENT, MemoryKind.SECRET, MemoryKind.FACT)
"""The kinds in the order in which their lines leave a prompt that is full."""


@dataclass(frozen=True, slots=True)
class Card:
    """Who the bot plays: what a model is told of a card. ``first_message`` and ``alternate_greetings`` greet the players; one
    of them is a turn of its own when used.
    """

    name: str
    description: str
    first_message: str = ""
    nickname: str = ""
    personality: str = ""
    scenario: str = ""
    mes_example: str = ""
    system_prompt: str = ""
    post_history_instructions: str = ""
    alternate_greetings: tuple[str, ...] = ()
    book: LoreBook | None = None

    @property
    def greetings(self) -> tuple[str, ...]:
        """How a story may open, the usual way first."""
        return tuple(text for text in (self.first_message, *self.alternate_greetings) if text.strip())


def system_text(card: Card, language: Language, *, json_reply: bool) -> str:
    """The system prompt: the same bytes for every session of a character in a language.

    Nobody's name stands in it: ``{{user}}`` is a phrase for the players, of whom there may be several. Of the lorebook it has
    what is told always. The card's own prompt stands before our rules, or around them where it says ``{{original}}``; they
    are never left out, because they explain how a player's turn is told from a forged one.

    The instructions for after the history end the system prompt. Where the card wants them, behind the newest turn, they would
    be in another place in each prompt: the next one would not repeat them, and the prefix would break with every turn.
    """
    words = WORDINGS[language]
    stable = constant_entries(card.book) if card.book else ()
    rules = (
        words.rules.format(name=card.name) + "\n" + (words.rules_json.format() if json_reply else words.rules_markup)
    )
    own = _filled(card, card.system_prompt, language, original=rules)
    described = words.card.format(name=card.name, description=_filled(card, card.description, language))
    parts = (
        _lore_section((entry for entry in stable if entry.before_card), card, language),
        described if card.description.strip() else described.strip(),
        _about(words.personality, card.personality, card, language),
        _about(words.scenario, card.scenario, card, language),
        _lore_section((entry for entry in stable if not entry.before_card), card, language),
        _about(words.examples, _START.sub("---", card.mes_example).strip().removeprefix("---"), card, language),
        own,
        "" if rules in own else rules,
        _filled(card, card.post_history_instructions, language),
    )
    return "\n\n".join(part for part in parts if part)


def greeting_text(card: Card, number: int, language: Language, *, player: str = "", longest: int | None = None) -> str:
    """The greeting of a number, from 0, as it is said to a player; to all of them when no name is given.

    For a label, no more than its first ``longest`` characters, as they stand in the card, are looked at. Raises IndexError when
    the card has no such greeting.
    """
    return _filled(card, card.greetings[number][:longest], language, user=player)


def lore_lines(
    card: Card,
    turns_shown: Sequence[Turn],
    *,
    already: str,
    language: Language,
    tokens: int,
    size: Callable[[str], int],
    replies: int | None = None,
    viewer_id: int | None = None,
) -> tuple[str, ...]:
    """The lines of the card's lorebook that the newest turns call for, for the tail; ``size`` counts tokens.

    What stands ``already`` in the prompt is not said again, but counts towards the ``tokens``. ``turns_shown`` are the raw
    turns of the prompt, the newest last. ``replies`` is how many the character has given in the whole story, for entries that
    wait for a number of them; None lets them in. ``viewer_id`` is as in :func:`turn_text`. A hostile book can cost about a
    second.
    """
    if card.book is None or tokens <= 0:
        return ()
    book = with_keys(card.book, lambda key: _filled(card, key, language))
    texts = [f"{turn.author.name}: {_said(turn, viewer_id)}" for turn in turns_shown]
    contents = (
        _indented(_filled(card, entry.content, language))
        for entry in matching(book, texts, tokens, size, replies=replies)
    )
    told = dict.fromkeys(content for content in contents if content and content not in already)
    return tuple(WORDINGS[language].lore_line.format(text=content) for content in told)


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

    Decided from the lines that stay: what has left does not matter, however much it is.
    """
    ends = memory.open_ends()
    shown = ends[-open_ends:] if open_ends > 0 else ()
    over = sum(size(_item(m, language)) for m in shown) - cap // _SHARE_OF_ENDS
    gone = {m.number for m in ends} - {m.number for m in shown}
    gone |= _leaving(sorted(shown, key=lambda m: (m.corrected, m.number)), over, language, size)
    lines = last_to_leave(memory)

    def first(count: int) -> SessionMemory:
        out = gone | {m.number for m in lines[count:]}
        return replace(memory, memories=tuple(m for m in memory.memories if m.number not in out))

    def over_cap(count: int) -> int:
        return size(memory_text(first(count), language, open_ends=open_ends)) - cap

    room, stay = -over_cap(0), 0
    for m in lines:
        room -= size(_item(m, language))
        if room < 0:
            break
        stay += 1
    # Lines counted one by one and together differ by a few tokens, and headings take some.
    while stay and over_cap(stay) > 0:
        stay -= 1
    while stay < len(lines) and over_cap(stay + 1) <= 0:
        stay += 1
    return first(stay)


def last_to_leave(memory: SessionMemory) -> list[Memory]:
    """The lines in use but for the loose ends, in the order of :func:`fitting`: what leaves last stands first."""
    lines = [m for m in memory.memories if m.is_active and m.kind is not MemoryKind.LOOSE_END]
    return sorted(lines, key=lambda m: (m.corrected, LEAVES_FIRST.index(m.kind), m.number), reverse=True)


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


def is_own(turn: Turn, viewer_id: int | None) -> bool:
    """Whether a turn is a reply of the character whose prompt it is shown in."""
    return not turn.author.is_player and viewer_id in (None, turn.author.id)


def turn_text(turn: Turn, viewer_id: int | None = None) -> str:
    """A turn as the history shows it: replies byte for byte; a player's text behind their name.

    ``viewer_id`` is the character whose prompt it is for: of another's reply it has what players see, behind that one's name.
    With None there is but one. Line breaks of another's text are indented, so that a forged ``Name:`` line cannot start a line
    of its own.
    """
    if is_own(turn, viewer_id):
        return turn.raw
    return f"{plain_name(turn.author.name)}: {_indented(_heard(turn))}"


def tail_text(gap: timedelta | None, language: Language, recalled: Sequence[str] = ()) -> str:
    """What stands before the newest turn: what was recalled for it, each on a line, and the time since the last turn.

    The time is told from three hours on, in whole hours or days.
    """
    return "\n".join([*recalled, *_time_passed(gap, language)])


def build(
    system: str, memory: str, turns: Sequence[Turn], language: Language, viewer_id: int | None = None
) -> tuple[Message, ...]:
    """The messages of a reply's prompt. ``turns`` are the raw ones that stay with their tails, the newest last.

    Roles alternate strictly, as some chat templates demand: neighbouring turns of players share a message, and a fixed
    line stands between two replies. ``viewer_id`` is as in :func:`turn_text`: other characters stand among the players.
    """
    words = WORDINGS[language]
    messages = [
        Message("system", system),
        Message("user", memory),
        Message("assistant", words.acknowledged),
    ]
    for turn in turns:
        text = turn_text(turn, viewer_id)
        text = f"{turn.tail}\n{text}" if turn.tail else text
        role: Role = "assistant" if is_own(turn, viewer_id) else "user"
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


def _filled(card: Card, text: str, language: Language, *, user: str = "", original: str = "") -> str:
    """A text of the card with its macros filled in, always the same for the same card."""
    user = user or WORDINGS[language].players
    return filled(text.strip(), char=card.nickname or card.name, user=user, original=original, seed=card.name).strip()


def _about(title: str, text: str, card: Card, language: Language) -> str:
    """A section of the card; nothing when there is nothing to say."""
    content = _filled(card, text, language)
    return f"{title.format(name=card.name)}\n{content}" if content else ""


def _lore_section(entries: Iterable[LoreEntry], card: Card, language: Language) -> str:
    contents = [content for entry in entries if (content := _filled(card, entry.content, language))]
    return "\n".join([WORDINGS[language].lore, *contents]) if contents else ""


def _said(turn: Turn, viewer_id: int | None) -> str:
    """A turn as keys are looked for in it: without the marks of a reply's format."""
    return "\n".join(beat.text for beat in turn.beats) if is_own(turn, viewer_id) else _heard(turn)


def _heard(turn: Turn) -> str:
    """What everybody gets to know of a turn: of a reply neither a thought nor talk out of character."""
    return turn.raw if turn.author.is_player else shown(turn.raw, turn.beats, turn.author.name)


def _indented(text: str) -> str:
    """A text of which only the first line can begin at the margin, where names stand."""
    return _INDENT.join(line.strip() for line in text.splitlines() if line.strip())


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
