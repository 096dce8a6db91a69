"""The use cases of a story's cast: who joins and who leaves, and how they open what they say.

Knows neither Discord nor SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.counting import TokenCounter
from bot.errors import NotFound, Refused
from bot.memory import markup, policy, prompt
from bot.memory.memories import SessionMemory
from bot.memory.prompt import Card
from bot.memory.story import Character, Member, Scope, Session
from bot.memory.turns import Beat, Turn
from bot.memory.wording import Language
from bot.rendering import Renderer
from bot.store import Store

log = logging.getLogger(__name__)

Opening = tuple[str, tuple[Beat, ...], int]
"""What somebody says first, its beats, and its size in tokens."""

# A player's turn is among so many of the newest, if anybody plays.
_NEWEST: Final = 20


@dataclass(frozen=True, slots=True)
class Joined:
    """Who joined a story, and what they say first, if anything."""

    session: Session
    member: Member
    greeting: Turn | None


class Casting:
    """Every use case, one method each. ``budgets`` gives the budgets of the moment, ``clock`` aware UTC times."""

    def __init__(
        self,
        store: Store,
        counter: TokenCounter,
        renderer: Renderer,
        *,
        budgets: Callable[[], policy.Budgets],
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._counter = counter
        self._renderer = renderer
        self._budgets = budgets
        self._clock = clock

    def opening(self, card: Card, number: int, language: Language, *, player: str = "") -> Opening | None:
        """The greeting of a number, from 0, said to a player or to all of them; None when the card has none at all.

        Raises Refused when the card has others, but not that one.
        """
        if number and number >= len(card.greetings):
            raise Refused("character-no-such-greeting", name=card.name)
        if not card.greetings:
            return None
        text = prompt.greeting_text(card, number, language, player=player)
        return (text, markup.parse_reply(text, card.name), self._counter.guess(text)) if text else None

    def require_playable(self, character: Character, language: Language, *, for_adults: bool) -> None:
        """Raises Refused when a character may not be played here, or the model's window has no room beside its card."""
        card, budgets = character.card, self._budgets()
        if character.adult and not for_adults:
            raise Refused("character-adult", name=card.name)
        fixed = self._counter.guess(prompt.system_text(card, language, json_reply=True))
        if budgets.prompt_limit(fixed) < budgets.floor:
            raise Refused("character-too-long", name=card.name, tokens=fixed, window=budgets.window)

    async def add(
        self, session_id: int, scope: Scope, name: str, *, greeting: int | None = None, for_adults: bool = False
    ) -> Joined:
        """Let a character join a story, of which it knows only what happens from now on, with the ``greeting`` of a number.

        Raises NotFound, and Refused as at the start of a story, and when it is there already or the cast is full.
        """
        session = await self._session(session_id)
        character = await self._store.character_named(scope, name)
        if character is None:
            raise NotFound("character-unknown", name=name)
        self.require_playable(character, session.language, for_adults=for_adults)
        opening = None if greeting is None else self.opening(character.card, greeting, session.language)
        head = self._renderer.head(SessionMemory(), session.language, self._budgets())
        session, turn = await self._store.add_member(session_id, character.id, head, self._clock(), greeting=opening)
        log.info("session %d: character %d joined, %d in all", session_id, character.id, len(session.cast))
        return Joined(session, session.cast[-1], turn)

    async def remove(self, session_id: int, name: str) -> Character:
        """Let a character leave a story; what it said stays. Raises NotFound, and Refused for the one it began with."""
        wanted = name.strip().casefold()
        cast = (await self._session(session_id)).cast
        found = [one.character for one in cast if one.character.card.name.casefold() == wanted]
        if not found:
            raise NotFound("cast-not-there")
        await self._store.remove_member(session_id, found[0].id, self._clock())
        log.info("session %d: character %d left", session_id, found[0].id)
        return found[0]

    async def next_speaker(self, session_id: int) -> Member:
        """Who writes the next reply, as it stands now. Raises LookupError."""
        _, scene = await self._store.scene(session_id)
        return scene.next_speaker()

    async def goes_on(self, session_id: int) -> bool:
        """Whether another of the cast, whom the last words called, wants to reply although nobody waits."""
        try:
            session, scene = await self._store.scene(session_id)
        except LookupError:
            return False
        return session.running and scene.goes_on()

    async def has_begun(self, session_id: int) -> bool:
        """Whether anybody has played in a story yet: until then it is nobody's."""
        turns = await self._store.recent_turns(session_id, _NEWEST)
        return any(turn.author.is_player for turn in turns)

    async def _session(self, session_id: int) -> Session:
        session = await self._store.session(session_id)
        if session is None:
            raise NotFound("session-unknown")
        return session
