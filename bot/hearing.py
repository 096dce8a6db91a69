"""Committing what players write: who speaks in it, whether it asks for an answer, and to whose words it replies."""

from __future__ import annotations

from dataclasses import replace

from bot.counting import TokenCounter
from bot.memory import attached, markup
from bot.memory.manners import Mode, in_character, is_named, names_of
from bot.memory.personas import speaking
from bot.memory.story import Character, Session
from bot.memory.turns import PlayerMessage, Turn
from bot.store import Due, Store


class Hearing:
    """Knows what players mean, as far as it is decided when they write."""

    def __init__(self, store: Store, counter: TokenCounter) -> None:
        self._store = store
        self._counter = counter

    async def commit(self, session: Session, message: PlayerMessage, due: Due) -> tuple[Turn | None, bool]:
        """The turn that a message became, and whether it asks for an answer; None when it is known already."""
        message = await self._spoken(message, session.place.guild_id)
        raw, beats = attached.written(
            message.text, message.author_name, message.pictures, session.language, marks=session.manners.marks
        )
        tokens = self._counter.guess(f"{message.author_name}: {raw}")
        answered = await self._answered(session, message)
        waits = (
            session.manners.mode is not Mode.SPOKEN_TO
            or message.mentions_bot
            or answered is not None
            or is_named(in_character(beats), _names(session))
        )
        addressed = answered.id if answered is not None and session.others else None
        message = replace(message, text=raw)
        turn = await self._store.add_player_turn(
            session.id, message, beats, tokens, due, waits=waits, addressed=addressed
        )
        return turn, waits and turn is not None and not turn.is_out_of_character

    async def _spoken(self, message: PlayerMessage, guild_id: int | None) -> PlayerMessage:
        """The message as whoever its author speaks as says it, which is decided here for good."""
        persona, text = speaking(message.text, await self._store.repertoire(message.author_id, guild_id))
        name = markup.plain_name(persona.name if persona else message.author_name)
        return replace(message, text=text, author_name=name, persona_id=persona.id if persona else None)

    async def _answered(self, session: Session, message: PlayerMessage) -> Character | None:
        """The character to whose words a message replies."""
        if message.reply_to is None:
            return None
        found = await self._store.turn_of_message(message.reply_to)
        return None if found is None or found[1].author.is_player else session.author(found[1])


def _names(session: Session) -> list[str]:
    """What the characters of a session are called by."""
    cards = [member.character.card for member in session.cast]
    return [name for card in cards for name in names_of(card.name, card.nickname)]
