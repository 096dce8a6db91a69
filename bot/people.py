"""The use cases of those whom characters know: see what is kept about oneself, put it right, have it forgotten.

Every one of them serves the person who asks and nobody else; what belongs to another is as unknown to it as what never was.
Knows neither Discord nor SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.errors import NotFound, Refused
from bot.memory import fading
from bot.memory.passages import is_unreal
from bot.memory.people import Acquaintance, FormerText, Note, Portrait, Source, Trait
from bot.memory.phrases import states_authority
from bot.store import Store

log = logging.getLogger(__name__)

LONGEST_TEXT: Final = 200
"""Characters that a person may write about themselves in one trait; one that was imported longer keeps its length."""


@dataclass(frozen=True, slots=True)
class About:
    """What characters keep about one person. ``is_stranger``: the person wants none of them to keep anything."""

    portraits: tuple[Portrait, ...]
    is_stranger: bool


@dataclass(frozen=True, slots=True)
class Link:
    """Where a source stands: its message, or None in its place when it is not known which one it was."""

    source: Source
    channel_id: int | None = None
    message_id: int | None = None
    guild_id: int | None = None


@dataclass(frozen=True, slots=True)
class Why:
    """A trait or note with what it rests on, and what a trait said before, oldest first."""

    acquaintance: Acquaintance
    kept: Trait | Note
    links: tuple[Link, ...]
    former: tuple[FormerText, ...] = ()


class People:
    """Every use case, one method each; ``player_id`` is always the person who asks."""

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    async def about(self, player_id: int, guild_id: int | None, *, everywhere: bool = False) -> About:
        """What the characters of a guild (None: of direct messages) keep about the person, or those of all places.

        Traits are as they have faded by now, those that ceased to be kept left out.
        """
        portraits = await self._store.portraits_of(player_id, guild_id, everywhere=everywhere)
        now = self._clock()
        shown = tuple(replace(portrait, traits=_faded(portrait.traits, now)) for portrait in portraits)
        return About(shown, await self._store.is_stranger(player_id))

    async def why_trait(self, player_id: int, trait_id: int) -> Why:
        """A trait and its reasons. Raises NotFound."""
        acquaintance, trait = await self._trait(player_id, trait_id)
        portraits = await self._store.portraits_of(player_id, acquaintance.guild_id, everywhere=False)
        former = next(((p.former or {}).get(trait_id, ()) for p in portraits if p.acquaintance == acquaintance), ())
        return Why(acquaintance, trait, await self._links(trait.sources), former)

    async def why_note(self, player_id: int, note_id: int) -> Why:
        """A note and its reasons. Raises NotFound."""
        found = await self._store.note_of(player_id, note_id)
        if found is None:
            raise NotFound("about-gone")
        acquaintance, note = found
        return Why(acquaintance, note, await self._links(note.sources))

    async def edit_trait(self, player_id: int, trait_id: int, text: str) -> Trait:
        """Let a trait say what its person wrote; the old text is kept, and it rests on that person's word alone.

        It is remembered at least as clearly as a new one, and in use again if it was dormant or forgotten. Raises NotFound, and
        Refused when the text is empty, too long, gives orders to the record or states a right, or the person is not remembered.
        """
        acquaintance, trait = await self._trait(player_id, trait_id)
        await self._require_remembered(acquaintance)
        words, most = " ".join(text.split()), max(LONGEST_TEXT, len(trait.text))
        if not words or len(words) > most:
            raise Refused("about-text-length", most=most)
        if is_unreal(words):
            raise Refused("about-text-order")
        if states_authority(words):
            raise Refused("about-text-right")
        now, is_new = self._clock(), words != trait.text
        edited = replace(
            fading.restored(trait, now),
            text=words,
            importance=max(trait.importance, fading.START),
            hazy=False,
            confirmed_at=now,
            faded_at=now,
            sources=() if is_new else trait.sources,
        )
        return await self._save(player_id, acquaintance, edited, "edited", former=is_new)

    async def take_away(self, player_id: int, trait_id: int) -> Trait:
        """Put a trait out of use; its person can restore it for a while. Raises NotFound."""
        acquaintance, trait = await self._trait(player_id, trait_id)
        return await self._save(player_id, acquaintance, fading.taken_away(trait, self._clock()), "taken away")

    async def restore(self, player_id: int, trait_id: int) -> Trait:
        """Take a dormant or forgotten trait into use again. Raises NotFound, and Refused when the person is not remembered."""
        acquaintance, trait = await self._trait(player_id, trait_id)
        await self._require_remembered(acquaintance)
        return await self._save(player_id, acquaintance, fading.restored(trait, self._clock()), "restored")

    async def remove_note(self, player_id: int, note_id: int) -> None:
        """Delete a note for good. Raises NotFound."""
        if not await self._store.remove_note(player_id, note_id):
            raise NotFound("about-gone")
        log.info("note %d: removed by its person", note_id)

    async def stop_remembering(self, player_id: int, acquaintance_id: int | None) -> None:
        """Let one character, or with None every character everywhere, keep nothing about the person any more.

        Notes go; traits can be restored for a while, once the person is remembered again. Raises NotFound.
        """
        await self._set_remembered(player_id, acquaintance_id, remembered=False)

    async def remember_again(self, player_id: int, acquaintance_id: int | None) -> None:
        """Take :meth:`stop_remembering` back, for one character or with None for all that were not named singly.

        Raises NotFound.
        """
        await self._set_remembered(player_id, acquaintance_id, remembered=True)

    async def _set_remembered(self, player_id: int, acquaintance_id: int | None, *, remembered: bool) -> None:
        now = self._clock()
        if acquaintance_id is None:
            await self._store.set_stranger(player_id, not remembered, now)
        elif not await self._store.set_remembered(acquaintance_id, player_id, remembered, now):
            raise NotFound("about-gone")
        log.info("acquaintance %s: remembered %s", acquaintance_id or "all", remembered)

    async def _trait(self, player_id: int, trait_id: int) -> tuple[Acquaintance, Trait]:
        """A trait of the person as it has faded by now. Raises NotFound."""
        found = await self._store.trait_of(player_id, trait_id)
        trait = fading.aged(found[1], self._clock()) if found else None
        if found is None or trait is None:
            raise NotFound("about-gone")
        return found[0], trait

    async def _require_remembered(self, acquaintance: Acquaintance) -> None:
        if not acquaintance.remembered or await self._store.is_stranger(acquaintance.player_id):
            raise Refused("about-not-remembered", name=acquaintance.character_name)

    async def _save(
        self, player_id: int, acquaintance: Acquaintance, trait: Trait, what: str, *, former: bool = False
    ) -> Trait:
        if not await self._store.save_trait(trait, by=str(player_id), at=self._clock(), former=former):
            raise NotFound("about-gone")
        log.info("acquaintance %d trait %d: %s by its person", acquaintance.id, trait.id, what)
        return trait

    async def _links(self, sources: tuple[Source, ...]) -> tuple[Link, ...]:
        """One for each turn, in order."""
        known = await self._store.turn_links(sources)
        turns = {(source.session_id, source.seq): source for source in sorted(sources, reverse=True)}
        return tuple(Link(source, *known.get(source, ())) for _, source in sorted(turns.items()))


def _faded(traits: tuple[Trait, ...], now: datetime) -> tuple[Trait, ...]:
    return tuple(aged for trait in traits if (aged := fading.aged(trait, now)) is not None)
