"""What a model is shown beside the words of a prompt: the pictures that came with the turns it answers.

They are fetched for the one request that they belong to and kept nowhere. The prompt's words are the same with and without
them: later prompts have the note that stands in the turn.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeVar

from bot.llm.client import ModelClient
from bot.memory.attached import MOST_PICTURES, looks, notes_in
from bot.memory.messages import Picture
from bot.memory.story import Session, Snapshot
from bot.memory.turns import Turn, unanswered
from bot.store import Store

log = logging.getLogger(__name__)

Seen = TypeVar("Seen")


class Eyes(Protocol):
    """Where pictures come from, as JPEGs that are small enough for a model."""

    async def attached(self, channel_id: int, message_id: int) -> Sequence[bytes | None]:
        """The pictures of a message in their order, None for one that cannot be shown; none when it is gone."""

    async def portrait(self, avatar_url: str) -> bytes | None:
        """A picture that we keep ourselves; None when it cannot be shown."""


class Sight:
    """Finds the pictures for a reply. ``eyes`` fetch them; without any there are none."""

    def __init__(self, store: Store, model: ModelClient) -> None:
        self._store = store
        self._model = model
        self.eyes: Eyes | None = None

    async def pictures(self, snapshot: Snapshot) -> tuple[Picture, ...]:
        """What came with the turns that wait for this reply, and how the personas look who had not spoken before.

        The newest four of each, in order; nothing for a model that cannot see.
        """
        waiting = unanswered(snapshot.turns)
        if self.eyes is None or self._model.profile.vision is False or not waiting:
            return ()
        attached = await self._attached(self.eyes, snapshot.session, waiting)
        portraits = await self._portraits(self.eyes, snapshot, waiting)
        if attached or portraits:
            log.info("session %d: %d pictures, %d portraits", snapshot.session.id, len(attached), len(portraits))
        return (*attached, *portraits)

    async def _attached(self, eyes: Eyes, session: Session, waiting: Sequence[Turn]) -> list[Picture]:
        found: list[Picture] = []
        for turn in reversed([turn for turn in waiting if notes_in(turn.raw)][-MOST_PICTURES:]):
            if len(found) >= MOST_PICTURES:
                break
            found[:0] = [
                Picture(jpeg, note)
                for message_id in await self._store.messages_of(turn.id)
                for note, jpeg in zip(
                    notes_in(turn.raw),
                    await _seen(eyes.attached(session.place.channel_id, message_id)) or (),
                    strict=False,
                )
                if jpeg
            ]
        return found[-MOST_PICTURES:]

    async def _portraits(self, eyes: Eyes, snapshot: Snapshot, waiting: Sequence[Turn]) -> list[Picture]:
        known = {None, *(turn.author.persona_id for turn in snapshot.turns if turn.seq < waiting[0].seq)}
        new = {turn.author.persona_id: turn.author.name for turn in waiting if turn.author.persona_id not in known}
        found: list[Picture] = []
        for persona_id, name in list(new.items())[-MOST_PICTURES:]:
            persona = await self._store.persona(persona_id) if persona_id else None
            jpeg = await _seen(eyes.portrait(persona.avatar_url)) if persona and persona.avatar_url else None
            if jpeg:
                found.append(Picture(jpeg, looks(name, snapshot.session.language)))
        return found


async def _seen(looking: Awaitable[Seen]) -> Seen | None:
    """What the eyes find; nothing when they fail, because a picture must never cost a reply."""
    try:
        return await looking
    except Exception as error:  # noqa: BLE001 - whatever went wrong, the reply is written without
        log.warning("pictures could not be shown: %r", error)
        return None
