"""The use cases of who brings characters: made here or out of a card, looked at, changed, given back, removed.

A card's whole document is kept as its author's program wrote it, and goes out again with every export; a model gets what
``bot.memory.prompt`` takes of it. Knows neither Discord nor SQL.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final, Literal

from bot.cards.card import CardFields, CardFile, Written, card_of, created, edited
from bot.cards.documents import LARGEST_FILE
from bot.cards.files import read_card, write_json, write_png
from bot.cards.kinds import Kind
from bot.engine import Engine
from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.markup import plain_name
from bot.memory.prompt import Card
from bot.memory.story import Character, Scope
from bot.store import Store

log = logging.getLogger(__name__)

__all__ = ["LARGEST_FILE", "CardFields", "CardFile", "Characters", "Form", "Kind", "Sheet", "Written"]

Form = Literal["png", "json"]

_LONGEST_TOLD: Final = 4_000_000
"""Characters of what a model may be told of a card, its lorebook among it: read with every message of its stories, and twice
what the largest lorebooks have that people share."""
# How cards say in their tags that they are for adults; the specifications have no field for it.
_ADULT_TAGS: Final = frozenset(
    "nsfw 18+ r18 r-18 r18+ adult explicit smut erotic porn hentai 成人 成人向け 成年向け".split()
)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A character with all that people may see of its card, and how many stories run with it."""

    character: Character
    fields: CardFields
    stories: int


class Characters:
    """Every use case, one method each."""

    def __init__(self, store: Store, engine: Engine, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._engine = engine
        self._clock = clock
        self._changing = asyncio.Lock()

    async def usable(self, scope: Scope) -> tuple[Character, ...]:
        """The characters that may be played here, by name."""
        return await self._store.characters(scope)

    async def names(self, scope: Scope) -> tuple[str, ...]:
        """The names of the characters that may be played here, in order."""
        return await self._store.character_names(scope)

    async def named(self, scope: Scope, name: str) -> Character:
        """A character by name. Raises NotFound."""
        return await self._engine.character(scope, name)

    async def create(self, scope: Scope, card: Card, avatar_url: str, *, adult: bool = False) -> Character:
        """Make a character of what somebody wrote. Raises Refused when it has no name or the name is taken."""
        of_card = {each.name: getattr(card, each.name) for each in fields(Card) if each.name != "book"}
        return await self.add(scope, created(CardFields(**of_card)), avatar_url, adult=adult)

    async def read(self, data: bytes, filename: str) -> CardFile:
        """The card in a file. Raises Refused, whose code says what the file is instead."""
        return await asyncio.to_thread(read_card, data, filename)

    async def add(
        self, scope: Scope, file: CardFile, avatar_url: str, *, name: str = "", adult: bool = False
    ) -> Character:
        """Keep a card as a character, under another ``name`` if one is given.

        One whose tags say so is for adults, whatever ``adult`` says. Raises Refused when it has no name, the name is taken, or
        it says more than a story can have.
        """
        if name:
            file = edited(file, replace(file.card, name=name))
        card = _told(file.card)
        adult = adult or _is_tagged_adult(file.card)
        document = await asyncio.to_thread(_written, file)
        return await self._store.add_character(scope, card, avatar_url, self._clock(), document=document, adult=adult)

    async def owned(self, scope: Scope, name: str, *, by: int, is_moderator: bool) -> Character:
        """A character that this person may change, take along and remove.

        Raises NotFound, and NotAllowed for anybody but its owner and moderators.
        """
        character = await self.named(scope, name)
        if by != character.scope.owner_id and not is_moderator:
            raise NotAllowed("character-not-yours", name=character.card.name)
        return character

    async def sheet(self, character: Character) -> Sheet:
        """Everything about a character."""
        file = await self._file(character)
        return Sheet(character, file.card, await self.stories(character))

    async def stories(self, character: Character) -> int:
        """How many stories run with a character."""
        return await self._store.stories_of(character.id)

    async def change(
        self,
        character: Character,
        texts: Mapping[str, str],
        *,
        adult: bool | None = None,
        avatar_url: str | None = None,
    ) -> Character:
        """Write texts into a card, by the names of its fields; the next reply of a story is told of them.

        One whose tags say so stays for adults. Raises NotFound when it was removed meanwhile, and Refused when the new name is
        taken, that of somebody who plays with it, or none.
        """
        async with self._changing:
            now = await self._store.character(character.id)
            if now is None:
                raise NotFound("character-unknown", name=character.card.name)
            file = await self._file(now)
            # The document may have a longer name than a line of a prompt: one that was left alone stays.
            new: dict[str, Any] = {key: text for key, text in texts.items() if key != "name" or text != now.card.name}
            file = edited(file, replace(file.card, **new))
            return await self._store.change_character(
                now.id,
                _told(file.card if "name" in new else replace(file.card, name=now.card.name)),
                now.avatar_url if avatar_url is None else avatar_url,
                document=await asyncio.to_thread(_written, file),
                adult=_is_tagged_adult(file.card) or (now.adult if adult is None else adult),
            )

    async def written(self, character: Character, form: Form, spec: Written, picture: bytes | None) -> bytes:
        """A character's card as a file, with everything that came in with it."""
        file = await self._file(character)
        if form == "json":
            return await asyncio.to_thread(write_json, file, spec)
        return await asyncio.to_thread(write_png, file, spec, picture)

    async def remove(self, character: Character, *, stop_stories: bool = False) -> None:
        """Take a character out of use; its stories stay readable, and those that run stop.

        Raises Refused when one runs and ``stop_stories`` does not allow that.
        """
        if not await self._store.remove_character(character.id, self._clock(), stop_stories=stop_stories):
            raise Refused("character-in-use", name=character.card.name)
        log.info("character %d removed", character.id)

    async def _file(self, character: Character) -> CardFile:
        """The card as it was brought; that of a character from before documents were kept is written from what is known."""
        document = await self._store.document(character.id)
        if document is None:
            card = character.card
            return created(CardFields(card.name, card.description, first_message=card.first_message))
        return await asyncio.to_thread(_read, document, character.card.name)


def _told(card: CardFields) -> Card:
    """What a model is told of a card; never its creator's notes. Raises Refused without a name, and when it is too much."""
    name = plain_name(card.name)
    if name == "?":
        raise Refused("character-name-empty")
    told = Card(
        name=name,
        description=card.description.strip(),
        first_message=card.first_message.strip(),
        nickname=plain_name(card.nickname).removeprefix("?"),
        personality=card.personality.strip(),
        scenario=card.scenario.strip(),
        mes_example=card.mes_example.strip(),
        system_prompt=card.system_prompt.strip(),
        post_history_instructions=card.post_history_instructions.strip(),
        alternate_greetings=tuple(text.strip() for text in card.alternate_greetings if text.strip()),
        book=card.book,
    )
    if _length(told) > _LONGEST_TOLD:
        raise Refused("card-says-too-much", name=name)
    return told


def _length(card: Card) -> int:
    entries = card.book.entries if card.book else ()
    texts = (value for each in fields(card) if isinstance(value := getattr(card, each.name), str))
    lore = (len(text) for entry in entries for text in (entry.content, *entry.all_keys))
    return sum(map(len, texts)) + sum(map(len, card.alternate_greetings)) + sum(lore)


def _is_tagged_adult(card: CardFields) -> bool:
    return any(tag.casefold() in _ADULT_TAGS for tag in card.tags)


def _written(file: CardFile) -> str:
    return json.dumps(file.raw, ensure_ascii=False, separators=(",", ":"))


def _read(document: str, name: str) -> CardFile:
    return card_of(json.loads(document), name=name)
