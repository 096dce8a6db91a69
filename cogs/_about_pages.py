"""What a character keeps about a person, as pages to leaf through, each with the lines on it to pick from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import discord

from bot.memory.fading import RESTORABLE_FOR, START
from bot.memory.people import Note, Portrait, Trait, TraitStatus
from bot.people import About
from cogs._lines import Say
from cogs._pages import LONGEST

# A select menu holds 25 (https://discord.com/developers/docs/components/reference#string-select); a phone shows fewer at once.
_MOST: Final = 20
_EXCERPT: Final = 300
_LABEL: Final = 100
_HEADINGS: Final = {
    TraitStatus.ACTIVE: "about-traits",
    TraitStatus.DORMANT: "about-dormant",
    TraitStatus.FORGOTTEN: "about-forgotten",
}


@dataclass(frozen=True, slots=True)
class Page:
    """``portrait`` is whose page it is; None where nobody keeps anything. ``lines`` can be picked."""

    text: str
    portrait: Portrait | None = None
    lines: tuple[discord.SelectOption, ...] = ()


def about_pages(about: About, say: Say, place: Callable[[int | None], str]) -> list[Page]:
    """At least one page, one or more for each character; ``place`` names a guild, or direct messages, or nothing."""
    pages = [page for portrait in about.portraits for page in _portrait_pages(portrait, say, place)]
    pages = pages or [Page(say("about-nothing"))]
    if not about.is_stranger:
        return pages
    wish = say("about-stranger")
    return [Page(f"{wish}\n\n{page.text}", page.portrait, page.lines) for page in pages]


def particulars(kept: Trait | Note, say: Say) -> list[str]:
    """What there is to say of a trait or note beside its text."""
    if isinstance(kept, Note):
        return [discord.utils.format_dt(kept.at, "d"), *([say("about-absorbed")] if kept.absorbed else [])]
    if kept.forgotten_at is not None:
        going = discord.utils.format_dt(kept.forgotten_at + RESTORABLE_FOR, "R")
        return [*([say("about-taken-away")] if kept.deleted else []), say("about-going", when=going)]
    if kept.status is TraitStatus.DORMANT:
        return [say("about-seen", day=discord.utils.format_dt(kept.confirmed_at, "d"))]
    facts = [say("about-importance", importance=kept.importance)]
    if kept.hazy or kept.importance < START:
        facts.append(say("about-hazy"))
    if kept.until is not None:
        facts.append(say("about-until", day=kept.until.isoformat()))
    return [*facts, say("about-since", day=discord.utils.format_dt(kept.first_at, "d"))]


def shown(text: str, longest: int = _EXCERPT) -> str:
    """A text in one line of at most ``longest`` characters, which neither marks up nor mentions."""
    return discord.utils.escape_mentions(discord.utils.escape_markdown(_short(text, longest)))


def _portrait_pages(portrait: Portrait, say: Say, place: Callable[[int | None], str]) -> Iterator[Page]:
    head = [place(portrait.acquaintance.guild_id)]
    if not portrait.acquaintance.remembered:
        head.append(say("about-off", name=shown(portrait.acquaintance.character_name)))
    elif portrait.waiting:
        head.append(say("about-waiting", count=portrait.waiting))
    if not portrait.traits and not portrait.notes:
        head.append(say("about-empty", name=shown(portrait.acquaintance.character_name)))
    text, heading, options = "\n".join(part for part in head if part), "", list[discord.SelectOption]()
    for number, (section, kept) in enumerate(_kept(portrait), start=1):
        line = " · ".join((f"`{number}` {shown(kept.text)}", *particulars(kept, say)))
        new = f"\n\n**{say(section)}**\n{line}" if section != heading else f"\n{line}"
        if len(options) == _MOST or len(text) + len(new) > LONGEST:
            yield Page(text, portrait, tuple(options))
            text, options, new = "", [], f"**{say(section)}**\n{line}"
        text, heading = (text + new).strip("\n"), section
        options.append(_option(number, kept, say(section)))
    yield Page(text, portrait, tuple(options))


def _kept(portrait: Portrait) -> Iterator[tuple[str, Trait | Note]]:
    """Everything under the heading of its section: traits in use with the most important first, dormant, forgotten, notes."""
    for status, heading in _HEADINGS.items():
        traits: Sequence[Trait] = [trait for trait in portrait.traits if trait.status is status]
        for trait in sorted(traits, key=lambda t: (t.importance, t.confirmed_at, t.id), reverse=True):
            yield heading, trait
    for note in sorted(portrait.notes, key=lambda n: (n.at, n.id), reverse=True):
        yield "about-notes", note


def _option(number: int, kept: Trait | Note, heading: str) -> discord.SelectOption:
    kind = "note" if isinstance(kept, Note) else "trait"
    label = _short(f"{number} · {kept.text}", _LABEL)
    return discord.SelectOption(label=label, value=f"{kind}:{kept.id}", description=_short(heading, _LABEL))


def _short(text: str, longest: int) -> str:
    words = " ".join(text.split())
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"
