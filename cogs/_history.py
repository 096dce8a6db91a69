"""A memory's whole past: who changed it, when and why, and the turns that it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import discord

from bot.memory.memories import BY_FORGOTTEN, MemoryStatus, Version
from bot.memory.story import MemoryDetail, Session
from bot.memory.turns import BeatKind, Turn
from cogs._lines import Say, content_line, is_withheld, memory_line
from cogs._pages import LONGEST

_EXCERPT: Final = 200
_BY: Final = {
    "major fold": "by-major-fold",
    "audit": "by-audit",
    "edit": "by-edit",
    "deletion": "by-deletion",
    "forgetting": "privacy-by-forgetting",
    BY_FORGOTTEN: "privacy-by-forgotten",
    "rewinding": "by-rewinding",
}


def history_pages(detail: MemoryDetail, session: Session, say: Say) -> list[str]:
    """The memory as it is, its versions from the first, and its evidence with links to the messages."""
    blocks = [memory_line(detail.memory, say), f"**{say('history-versions')}**"]
    withheld = is_withheld(detail.memory)
    blocks += [_version(version, say, withheld=withheld) for version in detail.history]
    return _paged(blocks + evidence_blocks(detail, session, say))


def evidence_blocks(detail: MemoryDetail, session: Session, say: Say) -> list[str]:
    """The memories that a memory condenses, and its cited turns with links to their messages."""
    blocks = []
    if detail.memory.condenses:
        numbers = " ".join(f"`#{number}`" for number in detail.memory.condenses)
        blocks.append(say("history-condenses", numbers=numbers))
    if detail.turns:
        blocks.append(f"**{say('history-evidence')}**")
    return blocks + [_evidence(detail, turn, messages, session, say) for turn, messages in detail.turns]


def message_link(session: Session, message_id: int) -> str:
    """The address of a message of a story."""
    guild = session.place.guild_id or "@me"
    return f"https://discord.com/channels/{guild}/{session.place.channel_id}/{message_id}"


def _version(version: Version, say: Say, *, withheld: bool) -> str:
    is_person = version.by.isdigit() and version.by != BY_FORGOTTEN
    by = f"<@{version.by}>" if is_person else say(_BY.get(version.by, "by-fold"))
    status = "" if version.status is MemoryStatus.ACTIVE else " · " + say(f"status-{version.status}")
    # The reasons of our own changes are codes; their status says as much.
    said = " ".join(version.reason.split()) if is_person else ""
    reason = f"\n> {discord.utils.escape_markdown(said)}" if said else ""
    when = discord.utils.format_dt(version.at, "f")
    content = "" if withheld else f"\n{content_line(version.content, say)}"
    return f"{version.version}. {when} · {by}{status}{reason}{content}"


def _evidence(detail: MemoryDetail, turn: Turn, messages: Sequence[int], session: Session, say: Say) -> str:
    """The cited lines of a turn. That a thought is cited is said, but never what is thought."""
    beats = [beat for cite in detail.memory.cites if (beat := turn.beat(cite)) is not None]
    lines = [say("history-thought") if beat.kind is BeatKind.THOUGHT else beat.text for beat in beats]
    words = " … ".join(" ".join(line.split()) for line in lines) or say("history-gone")
    short = words if len(words) <= _EXCERPT else words[:_EXCERPT].rstrip() + "…"
    name, excerpt = (
        discord.utils.escape_mentions(discord.utils.escape_markdown(part)) for part in (turn.author.name, short)
    )
    label = say("history-turn", seq=turn.seq)
    if messages:
        label = f"[{label}]({message_link(session, messages[0])})"
    return f"{label} **{name}** {excerpt}"


def _paged(blocks: Sequence[str]) -> list[str]:
    pages = [""]
    for block in blocks:
        if len(pages[-1]) + len(block) + 2 > LONGEST:
            pages.append("")
        pages[-1] = f"{pages[-1]}\n\n{block}".strip()
    return pages
