"""One trait or note with its reasons: the messages that it came from, and what it said before."""

from __future__ import annotations

from typing import Final

import discord

from bot.memory.people import FormerText
from bot.people import Link, Why
from cogs._about_pages import particulars, shown
from cogs._lines import Say

# Together below the 4,096 characters of an embed's description, also when every character of a text has to be escaped.
_TEXT: Final = 500
_LINKS: Final = 8
_FORMER: Final = 5
_FORMER_TEXT: Final = 160


def why_text(why: Why, say: Say) -> str:
    """Its text, how it stands, links to its messages, and its latest former texts."""
    blocks = [f"> {shown(why.kept.text, _TEXT)}\n{' · '.join(particulars(why.kept, say))}"]
    links = [_link(link, say) for link in why.links[-_LINKS:]]
    blocks.append(f"**{say('about-why')}**\n{' · '.join(links) or say('about-why-none')}")
    if why.former:
        former = "\n".join(_former(old, say) for old in why.former[-_FORMER:])
        blocks.append(f"**{say('about-former')}**\n{former}")
    return "\n\n".join(blocks)


def _link(link: Link, say: Say) -> str:
    label = say("history-turn", seq=link.source.seq)
    if link.message_id is None:
        return label
    return f"[{label}](https://discord.com/channels/{link.guild_id or '@me'}/{link.channel_id}/{link.message_id})"


def _former(old: FormerText, say: Say) -> str:
    by = say("about-by-you" if old.by.isdigit() else "about-by-judge")
    return f"{discord.utils.format_dt(old.until, 'd')} · {by} · ~~{shown(old.text, _FORMER_TEXT)}~~"
