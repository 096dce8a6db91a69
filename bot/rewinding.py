"""The use cases of those who tell a story otherwise: which turn a message carries, taking back, rewinding, and going back.

Built on the engine, which tells a reply anew; knows neither Discord nor SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.engine import Engine, Reply
from bot.errors import NotFound, Refused
from bot.memory import markup
from bot.memory.branches import Branch
from bot.memory.memories import SessionMemory
from bot.memory.story import Character, Head, Session
from bot.memory.turns import Telling, Turn, TurnState
from bot.rendering import Renderer
from bot.store import Store

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """The turn that a message carries, with all its tellings; ``number`` is the one that stands in the story, from 1."""

    session: Session
    turn: Turn
    number: int
    tellings: tuple[Telling, ...]

    @property
    def character(self) -> Character:
        """Who gave a reply; the lead for a player's turn."""
        return self.session.author(self.turn)

    @property
    def reply(self) -> Reply:
        """A character's turn as players see it."""
        text = markup.shown(self.turn.raw, self.turn.beats, self.character.card.name)
        cut = self.tellings[self.number - 1].was_cut
        return Reply(self.session, self.turn, markup.ended_at_sentence(text) if cut else text)


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The turns that are in sight again, in order; ``unseen`` are the replies among them that no message carries any more."""

    turns: tuple[Turn, ...]
    unseen: tuple[Told, ...]


class Rewinding:
    """Every use case, one method each. ``clock`` gives aware UTC times."""

    def __init__(self, store: Store, engine: Engine, renderer: Renderer, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._engine = engine
        self._renderer = renderer
        self._clock = clock

    async def told(self, message_id: int) -> Told:
        """The turn that a message carries, in whatever state. Raises NotFound when it carries none."""
        found = await self._store.turn_of_message(message_id)
        if found is None or found[1].state is TurnState.DELETED:
            raise NotFound("retell-no-turn")
        return await self._told(*found)

    async def turn(self, turn_id: int) -> Told:
        """A turn by its id. Raises NotFound."""
        found = await self._store.turn_with_session(turn_id)
        if found is None:
            raise NotFound("retell-no-turn")
        return await self._told(*found)

    async def is_player(self, session_id: int, player_id: int) -> bool:
        """Whether somebody plays in a story: a turn of theirs is in it, or was before it was rewound."""
        return await self._store.has_played(session_id, player_id)

    async def last_exchange(self, session_id: int) -> tuple[Turn, ...]:
        """The newest turns, after the reply before: what players wrote, and what they were answered."""
        return await self._store.last_exchange(session_id)

    async def take_back(self, told: Told, *, by: int) -> Branch:
        """Set the last exchange aside. Raises Refused when the turn does not belong to it, or somebody wrote at that moment."""
        async with self._engine.between_replies(told.session.id):
            exchange = await self._store.last_exchange(told.session.id)
            if told.turn.seq not in {turn.seq for turn in exchange}:
                raise Refused("retell-not-last-exchange")
            branch = await self._rewind(told.session, exchange[0].seq - 1, by=by, newest=exchange[-1].seq)
        if branch is None:
            raise Refused("retell-not-last-exchange")
        return branch

    async def rewind(self, told: Told, *, by: int) -> Branch:
        """Set aside what follows a turn. Raises Refused when nothing does, and when the turn is out of sight itself."""
        async with self._engine.between_replies(told.session.id):
            now = await self.turn(told.turn.id)
            if now.turn.state is not TurnState.KEPT:
                raise Refused("rewind-out-of-sight")
            branch = await self._rewind(now.session, now.turn.seq, by=by)
        if branch is None:
            raise Refused("rewind-nothing-follows")
        return branch

    async def branches(self, session_id: int) -> tuple[Branch, ...]:
        """The ways that a story left, the last first."""
        return await self._store.branches(session_id)

    async def take_up(self, session_id: int, branch_id: int, *, by: int) -> TakenUp:
        """Go back to a way that was left; the present one is set aside in its place. Raises NotFound."""
        session = await self._engine.session(session_id)
        async with self._engine.between_replies(session_id):
            back = await self._store.take_up(
                session_id, branch_id, by=by, at=self._clock(), render=self._render(session)
            )
        if back is None:
            raise NotFound("rewind-no-branch")
        log.info("session %d: branch %d taken up, %d turns", session_id, branch_id, len(back))
        replies = [turn for turn in back if not turn.author.is_player]
        unseen = [turn for turn in replies if not await self._store.messages_of(turn.id)]
        return TakenUp(back, tuple([await self._told(session, turn) for turn in unseen]))

    async def _rewind(self, session: Session, seq: int, *, by: int, newest: int | None = None) -> Branch | None:
        branch = await self._store.rewind(
            session.id, seq, by=by, at=self._clock(), render=self._render(session), newest=newest
        )
        if branch is not None:
            log.info("session %d: %d turns set aside as branch %d", session.id, len(branch.turns), branch.id)
        return branch

    async def _told(self, session: Session, turn: Turn) -> Told:
        number, tellings = await self._store.tellings(turn.id)
        return Told(session, turn, number, tellings)

    def _render(self, session: Session) -> Callable[[SessionMemory], Head]:
        return self._renderer.for_session(session, self._engine.budgets)
