"""The use cases of players who play somebody: their personas, which one is active, and what they bring from other bots.

A persona is its player's own, in every guild; which one is active is a matter of each guild. Knows neither Discord nor SQL.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from bot.errors import NotFound, Refused
from bot.memory.personas import (
    MOST_PERSONAS,
    Change,
    Persona,
    PersonaError,
    Repertoire,
    name_key,
    parse_brackets,
    tidy_description,
    tidy_name,
)
from bot.memory.proxy_exports import Export, read_export
from bot.store import Store
from bot.store.personas import Imported, Saved

log = logging.getLogger(__name__)

__all__ = ["FileImported", "Imported", "Personas", "Saved"]


@dataclass(frozen=True, slots=True)
class FileImported:
    """What a file held, and what became of it."""

    export: Export
    result: Imported


class Personas:
    """Every use case, one method each; ``guild_id`` is None in direct messages."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def repertoire(self, player_id: int, guild_id: int | None) -> Repertoire:
        """A player's personas, and which is active here."""
        return await self._store.repertoire(player_id, guild_id)

    async def named(self, player_id: int, name: str) -> Persona:
        """A player's persona by its name, whatever the case of its letters. Raises NotFound."""
        known = await self._store.repertoire(player_id, None)
        wanted = name_key(" ".join(name.split()))
        found = next((persona for persona in known.personas if name_key(persona.name) == wanted), None)
        if found is None:
            raise NotFound("persona-unknown", name=name)
        return found

    async def save(
        self,
        player_id: int,
        guild_id: int | None,
        name: str,
        *,
        new_name: str | None = None,
        description: str | None = None,
        brackets: str | None = None,
        avatar_url: str | None = None,
    ) -> Saved:
        """Change the persona of that name, or add it, and make it active here; what is None stays as it is.

        ``brackets`` is an example such as ``mio: text``. Raises Refused for what no persona can have, when a player has as many
        as they may, and when the new name is that of another of theirs.
        """
        try:
            change = Change(
                tidy_name(name),
                None if new_name is None else tidy_name(new_name),
                None if description is None else tidy_description(description),
                None if brackets is None else parse_brackets(brackets),
                avatar_url,
            )
        except PersonaError as error:
            raise Refused(error.code, **error.fields) from error
        saved = await self._store.save_persona(player_id, guild_id, change, most=MOST_PERSONAS)
        log.info("persona %d %s", saved.now.id, "changed" if saved.before else "added")
        return saved

    async def use(self, player_id: int, guild_id: int | None, name: str) -> Persona:
        """Let a player speak as a persona here from now on. Raises NotFound."""
        persona = await self.named(player_id, name)
        await self._store.activate_persona(player_id, guild_id, persona.id)
        return persona

    async def clear(self, player_id: int, guild_id: int | None) -> None:
        """Let a player speak as themselves here, unless brackets say otherwise."""
        await self._store.activate_persona(player_id, guild_id, None)

    async def delete(self, player_id: int, name: str) -> Persona:
        """Remove a persona for good; what was said as it stays in the stories. Raises NotFound."""
        persona = await self.named(player_id, name)
        await self._store.remove_persona(persona.id)
        log.info("persona %d removed", persona.id)
        return persona

    async def import_file(self, player_id: int, data: bytes) -> FileImported:
        """Take over the personas of an export of PluralKit or Tupperbox or a backup of SillyTavern's; no picture is fetched.

        Raises Refused for a file that is no such export.
        """
        try:
            export = await asyncio.to_thread(read_export, data)
        except PersonaError as error:
            raise Refused(error.code, **error.fields) from error
        result = await self._store.import_personas(player_id, export.drafts, most=MOST_PERSONAS)
        log.info(
            "player %d: %d personas added from %s, %d updated, %d left out, %d entries wrong",
            player_id, len(result.added), export.kind.value, len(result.updated), len(result.left_out), len(export.problems),
        )  # fmt: skip
        return FileImported(export, result)
