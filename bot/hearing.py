"""Committing what players write: who speaks in it, whether it asks for an answer, and to whose words it replies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from bot.counting import TokenCounter
from bot.memory import attached, markup
from bot.memory.manners import Mode, in_character, is_named, names_of
from bot.memory.personas import Repertoire, speaking
from bot.memory.story import Session
from bot.memory.turns import PlayerMessage, Turn, Understood
from bot.store import Due, Store

# Some hundred kilobytes.
_MOST_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that was committed; ``is_answered`` says whether the character answers it."""

    session: Session
    is_answered: bool


class Hearing:
    """Knows what players mean, as far as it is decided when they write."""

    def __init__(self, store: Store, counter: TokenCounter) -> None:
        self._store = store
        self._counter = counter
        self._playing: set[int] = set()

    async def commit(self, message: PlayerMessage, due: Due) -> Heard | None:
        """Commit a message; None when no session runs in its channel, or it is known already.

        One transaction decides that. It is asked for only where a story ran when the last message came, or runs by now: talk in
        other channels does not stand in line with those who write.
        """
        channel_id = message.channel_id
        if channel_id not in self._playing and await self._store.running_session(channel_id) is None:
            return None
        heard = await self._store.hear(message, partial(self._understood, message), due)
        if heard is None:
            self._playing.discard(channel_id)
            return None
        if len(self._playing) >= _MOST_REMEMBERED:
            self._playing.clear()
        self._playing.add(channel_id)
        session, turn, understood = heard
        return Heard(session, understood.waits and not turn.is_out_of_character)

    def _understood(
        self, message: PlayerMessage, session: Session, repertoire: Repertoire, replied_to: Turn | None
    ) -> Understood:
        """What a message means. Who it speaks as is decided here for good."""
        persona, text = speaking(message.text, repertoire)
        name = markup.plain_name(persona.name if persona else message.author_name)
        raw, beats = attached.written(text, name, message.pictures, session.language, marks=session.manners.marks)
        answered = None if replied_to is None or replied_to.author.is_player else session.author(replied_to)
        waits = (
            session.manners.mode is not Mode.SPOKEN_TO
            or message.mentions_bot
            or answered is not None
            or is_named(in_character(beats), _names(session))
        )
        return Understood(
            replace(message, text=raw, author_name=name, persona_id=persona.id if persona else None),
            beats,
            self._counter.guess(f"{name}: {raw}"),
            waits,
            answered.id if answered is not None and session.others else None,
        )


def _names(session: Session) -> list[str]:
    """What the characters of a session are called by."""
    cards = [member.character.card for member in session.cast]
    return [name for card in cards for name in names_of(card.name, card.nickname)]
