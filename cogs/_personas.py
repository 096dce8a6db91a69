"""Personas as text: a line in a list, a page of one, and what became of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import discord

from bot.memory.personas import Brackets, Persona, Repertoire
from bot.memory.proxy_exports import Problem
from bot.personas import FileImported
from cogs._lines import Say

_ON_A_PAGE: Final = 20
_LONGEST_LINE: Final = 90
_LONGEST_TEXT: Final = 4_000
_MOST_PROBLEMS: Final = 15
_MOST_BRACKETS: Final = 5


def persona_pages(known: Repertoire, say: Say) -> list[discord.Embed]:
    """All of a player's personas by name, the active one marked. There is always one page."""
    ordered = sorted(known.personas, key=lambda persona: persona.name.casefold())
    lines = [_line(persona, is_active=persona == known.active) for persona in ordered]
    texts = ["\n".join(lines[at : at + _ON_A_PAGE]) for at in range(0, len(lines), _ON_A_PAGE)]
    title = say("persona-list-title")
    return [discord.Embed(title=title, description=text) for text in texts or [say("persona-list-empty")]]


def persona_page(persona: Persona, say: Say, *, is_active: bool) -> discord.Embed:
    """One persona with all that is known of it."""
    parts = [persona.description or say("persona-no-description")]
    if persona.brackets:
        parts.append(say("persona-brackets", brackets=_shown(persona.brackets, len(persona.brackets))))
    if is_active:
        parts.append(say("persona-active"))
    page = discord.Embed(title=persona.name, description="\n\n".join(parts)[:_LONGEST_TEXT])
    return page.set_thumbnail(url=persona.avatar_url) if persona.avatar_url else page


def import_report(done: FileImported, say: Say) -> discord.Embed:
    """What was taken over from a file, what was not, and why."""
    export, result = done.export, done.result
    title = say("persona-import-title", program=export.kind.value)
    lines = [say("persona-import-done", added=len(result.added), updated=len(result.updated))]
    if export.pictures:
        lines.append(say("persona-import-pictures"))
    if export.withheld:
        lines.append(say("persona-import-private", count=export.withheld))
    if result.left_out:
        names = ", ".join(map(_plain, result.left_out[:_MOST_PROBLEMS]))
        lines.append(say("persona-import-full", count=len(result.left_out), names=names))
    if export.problems:
        lines += ["", say("persona-import-wrong", count=len(export.problems)), *_problem_lines(export.problems, say)]
    return discord.Embed(title=title, description="\n".join(lines)[:_LONGEST_TEXT])


def _problem_lines(problems: Sequence[Problem], say: Say) -> list[str]:
    lines = []
    for problem in problems[:_MOST_PROBLEMS]:
        name = f" ({_plain(problem.name)})" if problem.name else ""
        lines.append(f"- {say('persona-entry', number=problem.entry)}{name}: {say(f'persona-wrong-{problem.wrong}')}")
    return [*lines, "- …"] if len(problems) > _MOST_PROBLEMS else lines


def _line(persona: Persona, *, is_active: bool) -> str:
    words = _plain(persona.description)
    short = words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rstrip("\\ ") + "…"
    parts = ("▶" if is_active else "", f"**{_plain(persona.name)}**", _shown(persona.brackets, 1), short)
    return " ".join(part for part in parts if part)


def _shown(brackets: Sequence[Brackets], most: int) -> str:
    return ", ".join(f"“{_plain(str(pair))}”" for pair in brackets[: min(most, _MOST_BRACKETS)])


def _plain(words: str) -> str:
    return discord.utils.escape_mentions(discord.utils.escape_markdown(" ".join(words.split())))
