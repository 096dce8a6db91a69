"""What becomes of each column that may hold a person's words or an id, when that person is forgotten."""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Boolean, Column, Date, Float, Integer

from bot.store.columns import EnumText, UtcDateTime
from bot.store.tables import metadata

REMOVED: Final = {
    "acquaintances.name": "with the acquaintance; emptied where it stays for the wish not to be remembered",
    "acquaintances.player_id": "with the acquaintance, unless it holds the wish not to be remembered",
    "active_personas.persona_id": "with the row",
    "active_personas.player_id": "with the row",
    "characters.avatar_url": "with a character of direct messages; the picture behind it too. A guild's stays the guild's",
    "characters.card": "with a character of direct messages",
    "characters.description": "with a character of direct messages",
    "characters.document": "with a character of direct messages",
    "characters.first_message": "with a character of direct messages",
    "characters.name": "with a character of direct messages",
    "characters.name_key": "with a character of direct messages",
    "findable.words": "with the turns that are emptied and the memories that are forgotten",
    "flags.by": "with their report",
    "flags.why": "with their report; emptied in another's that tells of them",
    "forgettings.player_id": "once nothing else is left",
    "former_texts.by": "with the trait",
    "former_texts.text": "with the trait",
    "messages.message_id": "with the turn's text: who has the id finds the author in Discord",
    "notes.text": "with the acquaintance",
    "persona_labels.label": "with the row",
    "persona_labels.name": "with the row",
    "persona_labels.persona_id": "with the row",
    "persona_labels.player_id": "with the row",
    "personas.avatar_url": "with the persona; the picture behind it too",
    "personas.brackets": "with the persona",
    "personas.description": "with the persona",
    "personas.name": "with the persona",
    "personas.name_key": "with the persona",
    "personas.player_id": "with the persona",
    "players.label": "with the row",
    "players.name": "with the row",
    "players.player_id": "with the row",
    "tellings.beats": "those that give the person away; a telling of which nothing is left goes",
    "tellings.raw": "written anew from the beats that are left",
    "traits.imported": "with the trait",
    "traits.text": "with the trait",
}
EMPTIED: Final = {
    "branches.by": "0: nobody's",
    "characters.owner_id": "0 for what was made for a guild; a character of direct messages goes",
    "flags.decided_by": "0: nobody's",
    "memories.actual": "of every memory that tells of the person",
    "memories.addressee": "of every memory that tells of the person",
    "memories.player_id": "of every memory about the person",
    "memories.speaker": "of every memory that tells of the person",
    "memories.text": "of every memory that tells of the person",
    "heads.text": "rendered again from what is left",
    "sessions.memory_text": "rendered again from what is left",
    "turns.author_id": "0: nobody's",
    "turns.author_name": "with the text",
    "turns.beats": "of their turns; of replies those that give the person away",
    "turns.persona_id": "of their turns",
    "turns.raw": "of their turns; of replies written anew from the beats that are left",
    "tails.text": "of every turn of the story",
    "turns.tail": "of every turn of the story",
    "versions.actual": "of every version of a memory that tells of the person",
    "versions.addressee": "of every version of a memory that tells of the person",
    "versions.by": "0: nobody's",
    "versions.player_id": "of every version of a memory that tells of the person",
    "versions.reason": "where the person gave it, or it gives them away",
    "versions.speaker": "of every version of a memory that tells of the person",
    "versions.text": "of every version of a memory that tells of the person",
}
KEPT: Final = {
    "active_personas.guild_id": "a place; it goes with the row",
    "branches.line": "numbers of turns, chapters and memories",
    "calls.model": "a model's name",
    "calls.outcome": "a code",
    "calls.purpose": "a code",
    "calls.rejection": "a code",
    "characters.guild_id": "a place",
    "departures.guild_id": "a place",
    "folds.error": "a code",
    "guild_settings.guild_id": "a place",
    "guild_settings.language": "a guild's choice",
    "guild_settings.log_channel_id": "a place",
    "guild_settings.moderator_role_id": "a role",
    "guild_settings.time_zone": "a guild's choice",
    "judgements.error": "a code",
    "messages.channel_id": "a place",
    "mornings.guild_id": "a place",
    "ratios.model": "a model's name",
    "sessions.channel_id": "a place; a story of direct messages goes whole",
    "sessions.guild_id": "a place",
    "sessions.language": "a code",
    "sessions.parent_id": "a place",
    "strangers.player_id": "the wish not to be remembered outlives what was remembered",
    "tellings.finish_reason": "a code",
    "tellings.model": "a model's name",
    "turns.finish_reason": "a code",
    "turns.model": "a model's name",
    "webhooks.channel_id": "a place",
    "webhooks.webhook_id": "our own",
}
NUMBERS_ONLY: Final = {
    "addressed": "to which character's words a turn replies; it stays with its story",
    "cast": "which characters are in a story; it stays with it",
    "chapters": "which turns one covers; it stays with its story",
    "condensations": "which memories one stands for; it stays with its story",
    "evidence": "which beats a memory cites; what was cut is not cited any more",
    "exchanges": "which turns wait to be judged; they go with the acquaintance",
    "note_sources": "they go with the note",
    "trait_sources": "they go with the trait",
}


def places() -> dict[str, Column[object]]:
    """All columns that may hold words or the id of a person, by table and name."""
    return {str(column): column for table in metadata.sorted_tables for column in table.columns if _may_tell(column)}


def tables_of_numbers() -> set[str]:
    """The tables that have no such column."""
    return {table.name for table in metadata.sorted_tables if not any(map(_may_tell, table.columns))}


def _may_tell(column: Column[object]) -> bool:
    match column.type:
        case EnumText() | UtcDateTime() | Date() | Boolean() | Float():
            return False
        case BigInteger():
            return True
        case Integer():
            return "persona" in column.name or "player" in column.name
        case _:
            return True
