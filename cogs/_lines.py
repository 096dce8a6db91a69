"""One memory as one line for people: its number, what kind it is at a glance, and never what players may not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

import discord

from bot.memory.memories import Content, Memory, MemoryKind, MemoryStatus

SIGNS: Final = {
    MemoryKind.EVENT: "•",
    MemoryKind.FACT: "✔",
    MemoryKind.CLAIM: "💬",
    MemoryKind.SECRET: "🎭",
    MemoryKind.LOOSE_END: "❓",
    MemoryKind.QUOTE: "❝",
}


PRIVATE: Final = "🔒"


class Say(Protocol):
    """A catalogue bound to one person's locale."""

    def __call__(self, code: str, /, **fields: str | int) -> str:
        """The message ``code``."""


def memory_line(memory: Memory, say: Say, *, reveal: bool = False) -> str:
    """A memory as a line of Markdown that shows its text as it was written; a private one only to ``reveal`` it.

    Of one that rests on a message which was changed or deleted only that is said: its words may be the deleted ones.
    """
    if is_withheld(memory):
        return f"`#{memory.number}` {SIGNS[memory.kind]} *({say(f'status-{memory.status}')})*"
    corrected = " ✎" if memory.corrected else ""
    repeats = "" if memory.restates is None else " " + say("memory-restates", number=memory.restates)
    return f"`#{memory.number}` {content_line(memory.content, say, reveal=reveal)}{corrected}{repeats}"


def is_withheld(memory: Memory) -> bool:
    """Whether nobody may read a memory any more: a message that it rests on was changed or deleted, or its person forgotten."""
    return memory.status in (MemoryStatus.STALE, MemoryStatus.REPLACED, MemoryStatus.FORGOTTEN)


def content_line(content: Content, say: Say, *, reveal: bool = False) -> str:
    """What a memory says, with the sign of its kind. Of a secret only the outward side; of a thought that it is there."""
    if content.private and not reveal:
        return f"{PRIVATE} {say('memory-private')}"
    text, speaker, addressee = (_shown(words) for words in (content.text, content.speaker, content.addressee))
    if content.kind is MemoryKind.CLAIM and addressee:
        text = say("memory-claim-to", speaker=speaker, addressee=addressee, text=text)
    elif content.kind is MemoryKind.CLAIM:
        text = say("memory-claim", speaker=speaker, text=text)
    elif content.kind is MemoryKind.QUOTE and speaker:
        text = say("memory-quote", speaker=speaker, text=text)
    return f"{SIGNS[content.kind]} {text}"


def plain_line(memory: Memory, longest: int) -> str:
    """A memory where no Markdown is shown, as in a list of choices."""
    words = "…" if memory.content.private or is_withheld(memory) else " ".join(memory.content.text.split())
    text = f"#{memory.number} {PRIVATE if memory.content.private else SIGNS[memory.kind]} {words}"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _shown(words: str) -> str:
    return discord.utils.escape_mentions(discord.utils.escape_markdown(" ".join(words.split())))


def bound(text: Callable[..., str], locale: object) -> Say:
    """A catalogue's ``text`` for one locale."""

    def say(code: str, /, **fields: str | int) -> str:
        return text(code, locale, **fields)

    return say
