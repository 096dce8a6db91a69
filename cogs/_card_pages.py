"""Characters as text: a line in a list, the pages of a card, and what was found in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import discord

from bot.characters import CardFields, CardFile, Sheet
from bot.memory.story import Character
from cogs._lines import Say

_ON_A_PAGE: Final = 20
_LONGEST_LINE: Final = 90
_LONGEST_PAGE: Final = 3_800
_LONGEST_NOTES: Final = 2_500
_MARK: Final = "🔞"


def list_pages(found: Sequence[Character], say: Say) -> list[discord.Embed]:
    """The characters by name, those for adults marked. There is always one page."""
    lines = [_line(character) for character in found]
    texts = ["\n".join(lines[at : at + _ON_A_PAGE]) for at in range(0, len(lines), _ON_A_PAGE)]
    title = say("character-list-title")
    return [discord.Embed(title=title, description=text) for text in texts or [say("character-list-empty")]]


def sheet_pages(sheet: Sheet, say: Say, locale: str) -> list[discord.Embed]:
    """The card as it was written, one page for each part of it, and more where one cannot hold it."""
    name = sheet.character.card.name
    pages = []
    for heading, text in _sections(sheet, say, locale):
        title = f"{name} · {heading}"[:256] if heading else name
        texts = [text[at : at + _LONGEST_PAGE] for at in range(0, len(text), _LONGEST_PAGE)]
        pages += [discord.Embed(title=title, description=part) for part in texts]
    if sheet.character.avatar_url:
        pages[0].set_thumbnail(url=sheet.character.avatar_url)
    for number, page in enumerate(pages if len(pages) > 1 else (), 1):
        page.set_footer(text=f"{number}/{len(pages)}")
    return pages


def import_report(character: Character, file: CardFile, say: Say, locale: str) -> discord.Embed:
    """What a card brought, what of it was left out, and what its creator says."""
    name, card = character.card.name, file.card
    lines = [say("character-created", name=name), "", _counts(character, say)]
    if character.adult:
        lines.append(f"{_MARK} {say('character-is-adult')}")
    if file.assets_left_out:
        lines.append(say("character-assets-left-out", count=file.assets_left_out))
    if file.picture and not character.avatar_url:
        lines.append(say("character-picture-left-out"))
    if notes := card.notes(locale[:2]).strip():
        lines += ["", f"**{say('character-creator-notes')}**", notes[:_LONGEST_NOTES]]
    report = discord.Embed(title=name, description="\n".join(lines))
    return report.set_thumbnail(url=character.avatar_url) if character.avatar_url else report


def _sections(sheet: Sheet, say: Say, locale: str) -> Iterator[tuple[str, str]]:
    card: CardFields = sheet.fields
    about = [_counts(sheet.character, say)]
    if sheet.character.adult:
        about.append(f"{_MARK} {say('character-is-adult')}")
    if sheet.stories:
        about.append(say("character-stories", count=sheet.stories))
    yield "", "\n\n".join(text for text in (card.description.strip(), "\n".join(about)) if text)
    before = [
        ("form-character-personality", card.personality),
        ("form-character-scenario", card.scenario),
        ("form-character-first-message", card.first_message),
    ]
    yield from ((say(code), text) for code, text in before if text.strip())
    for number, text in enumerate(card.alternate_greetings, 1):
        yield say("character-greeting", number=number), text
    behind = [
        ("form-character-mes-example", card.mes_example),
        ("form-character-system-prompt", card.system_prompt),
        ("form-character-post-history-instructions", card.post_history_instructions),
    ]
    yield from ((say(code), text) for code, text in behind if text.strip())
    if notes := card.notes(locale[:2]).strip():
        by = f" ({card.creator})" if card.creator else ""
        yield say("character-creator-notes") + by, notes


def _counts(character: Character, say: Say) -> str:
    book = character.card.book
    return say("character-holds", greetings=len(character.card.greetings), entries=len(book.entries) if book else 0)


def _line(character: Character) -> str:
    name = discord.utils.escape_markdown(character.card.name)
    if character.adult:
        return f"**{name}** {_MARK}"
    words = discord.utils.escape_markdown(" ".join(character.card.description.split()))
    short = words if len(words) <= _LONGEST_LINE else words[:_LONGEST_LINE].rstrip("\\ ") + "…"
    return f"**{name}** {short}"
