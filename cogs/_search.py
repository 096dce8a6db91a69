"""What a search found, as pages: memories with their numbers, turns with links to their messages."""

from __future__ import annotations

from collections.abc import Sequence

import discord

from bot.memory.recall import Found, excerpt, matched, typed_words
from bot.memory.story import Session
from cogs._history import message_link
from cogs._lines import Say, memory_line
from cogs._pages import LONGEST


def search_pages(typed: str, found: Sequence[Found], session: Session, say: Say) -> list[str]:
    """The memories, then the turns, each with the best first. There is always one page. Never a thought."""
    words = typed_words(typed)
    noted = [memory_line(line.memory, say) for line in found if line.memory is not None]
    told = [text for line in found if (text := _turn_line(line, words, session, say))]
    blocks = [f"**{say('search-memories')}**", *noted] if noted else []
    blocks += [f"**{say('search-turns')}**", *told] if told else []
    pages = [""]
    for block in blocks or [say("search-nothing")]:
        if len(pages[-1]) + len(block) + 1 > LONGEST:
            pages.append("")
        pages[-1] = f"{pages[-1]}\n{block}".strip()
    return pages


def _turn_line(line: Found, words: Sequence[str], session: Session, say: Say) -> str:
    beat = excerpt(line.turn, matched(words, line)) if line.turn else None
    if line.turn is None or beat is None:
        return ""
    label = say("history-turn", seq=line.turn.seq)
    if line.message_id is not None:
        label = f"[{label}]({message_link(session, line.message_id)})"
    name, text = (
        discord.utils.escape_mentions(discord.utils.escape_markdown(" ".join(part.split())))
        for part in (beat.speaker, beat.text)
    )
    return f"{label} · {discord.utils.format_dt(line.at, 'd')} **{name}** {text}"
