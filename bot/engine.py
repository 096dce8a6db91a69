"""The use cases: what players, moderators and the gateway ask for. Knows neither Discord nor SQL.

Two kinds of lock keep a session in order. The store's write transactions give every turn its place. A lock per session, held
while a reply is written, makes replies follow one another; a message that arrives meanwhile is committed at once and answered
by the next reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from weakref import WeakValueDictionary

from bot.casting import Casting
from bot.counting import TokenCounter
from bot.errors import NotFound, Refused
from bot.hearing import Heard, Hearing
from bot.llm.client import ModelClient
from bot.memory import attached, markup, policy, recall
from bot.memory.language import detect_language
from bot.memory.leaves import Leaf
from bot.memory.memories import Memory, MemoryKind, SessionMemory
from bot.memory.personas import without_brackets
from bot.memory.recall import Found, Limits
from bot.memory.story import (
    Archive,
    Begun,
    Character,
    Head,
    LastMessage,
    MemoryDetail,
    Place,
    Scope,
    Session,
    SessionFigures,
    Tail,
)
from bot.memory.turns import Author, PlayerMessage, Turn
from bot.prompting import Prompter
from bot.recording import Collected, Recorder
from bot.rendering import Renderer
from bot.sight import Sight
from bot.store import Due, Store
from bot.streaming import Draft
from bot.writing import Writer

log = logging.getLogger(__name__)

# No memory has a number so long, and no database one much longer.
_DIGITS = 10

Watch = Callable[[Draft], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """A committed reply; ``text`` is what players may see of it."""

    session: Session
    turn: Turn
    text: str

    @property
    def character(self) -> Character:
        """Who speaks."""
        return self.session.author(self.turn)


@dataclass(frozen=True, slots=True)
class Started:
    """A new session, with the character's greeting when there is one."""

    session: Session
    greeting: Reply | None


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the last process left: replies that may not have reached Discord, replies of which only a part was written and may
    be shown, and sessions whose players wait.

    ``last_messages`` say up to where each running session knows its channel: what came later was written while no process
    was there to hear it.
    """

    undelivered: tuple[Reply, ...]
    broken_off: tuple[Reply, ...]
    interrupted: tuple[Session, ...]
    last_messages: tuple[LastMessage, ...]


class Engine:
    """Every use case, one method each.

    ``budgets`` gives the budgets for a window in tokens, with the operator's overrides. ``fold_delay`` is how long after the
    turn that crosses the trigger a fold is due. ``clock`` gives aware UTC times. ``recall_limits`` bounds what a reply is
    reminded of, and ``people_tokens`` what it is told of the persons present; with none, nobody gets known. ``sight`` finds the
    pictures that a model is shown, and ``casting`` keeps who plays.
    """

    def __init__(
        self,
        store: Store,
        model: ModelClient,
        counter: TokenCounter,
        renderer: Renderer,
        *,
        budgets: Callable[[int | None], policy.Budgets],
        fold_delay: timedelta,
        clock: Callable[[], datetime],
        temperature: float | None = None,
        recall_limits: Limits | None = None,
        people_tokens: int = 0,
    ) -> None:
        self._store = store
        self._model = model
        self._counter = counter
        self._renderer = renderer
        self._budgets = budgets
        self._fold_delay = fold_delay
        self._clock = clock
        self._knows_people = people_tokens > 0
        self._prompter = Prompter(
            store,
            model,
            counter,
            renderer,
            budgets=lambda: self.budgets,
            limits=recall_limits or Limits(),
            people_tokens=people_tokens,
        )
        self._hearing = Hearing(store, counter)
        self._recorder = Recorder(store, clock)
        self.sight = Sight(store, model)
        self.casting = Casting(store, counter, renderer, budgets=lambda: self.budgets, clock=clock)
        self._writer = Writer(
            model, counter, self._prompter, self.sight, budgets=lambda: self.budgets, temperature=temperature
        )
        self._reply_locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    @property
    def budgets(self) -> policy.Budgets:
        """The budgets for the window that the model reported last."""
        return self._budgets(self._model.profile.window)

    def model_label(self) -> str:
        """Which model answers, for people to read."""
        return self._model.profile.model

    # Sessions

    async def character(self, scope: Scope, name: str) -> Character:
        """A character by name. Raises NotFound."""
        found = await self._store.character_named(scope, name)
        if found is None:
            raise NotFound("character-unknown", name=name)
        return found

    async def start_session(
        self,
        place: Place,
        scope: Scope,
        character_name: str,
        *,
        greeting: bool,
        number: int = 0,
        player: Author | None = None,
        for_adults: bool = False,
    ) -> Started:
        """Begin a new story, with the greeting of a ``number`` from 0, said to the ``player`` who begins.

        Where the greeting names them, their name is known to be theirs from then on.

        Raises NotFound, and Refused when a session already runs in this channel, the character is for adults and the place is
        not, the card has no such greeting, or the model's window has no room beside the card.
        """
        character = await self.character(scope, character_name)
        card = character.card
        language = detect_language(f"{card.description}\n{card.first_message}" if card.description else card.name)
        self.casting.require_playable(character, language, for_adults=for_adults)
        name = markup.plain_name(player.name) if player else ""
        opening = self.casting.opening(card, number, language, player=name) if greeting else None
        greeted = replace(player, name=name) if player and opening and name in opening[0] else None
        head = self._renderer.head(SessionMemory(), language, self.budgets)
        session, turn = await self._store.start_session(
            place, character.id, language, opening, head, self._clock(), greeted=greeted
        )
        log.info("session %d started in channel %d with character %d", session.id, place.channel_id, character.id)
        return Started(session, self._reply(session, turn) if turn else None)

    async def stop_session(self, channel_id: int) -> Session:
        """End the channel's running session; it stays readable. Raises NotFound."""
        session = await self._store.running_session(channel_id)
        if session is None:
            raise NotFound("session-none")
        await self._store.stop_session(session.id, self._clock())
        return session

    async def resume_session(self, channel_id: int, session_id: int | None, *, for_adults: bool = False) -> Session:
        """Go on with a stopped story of this channel, by default the newest. Raises NotFound and Refused."""
        stories = await self._store.sessions_in(channel_id)
        chosen = [s for s in stories if session_id in (None, s.id)]
        if not chosen:
            raise NotFound("session-none" if session_id is None else "session-unknown")
        if chosen[0].running:
            raise Refused("session-already-running")
        if chosen[0].character.removed:
            raise Refused("session-character-gone", name=chosen[0].character.card.name)
        for member in chosen[0].cast:
            if member.character.adult and not for_adults:
                raise Refused("character-adult", name=member.character.card.name)
        await self._store.resume_session(chosen[0].id, self._clock())
        return chosen[0]

    async def running_session(self, channel_id: int) -> Session | None:
        """The session that runs in a channel."""
        return await self._store.running_session(channel_id)

    async def readable_session(self, channel_id: int) -> Session:
        """The running session of a channel, else its newest. Raises NotFound."""
        stories = await self._store.sessions_in(channel_id)
        if not stories:
            raise NotFound("session-none")
        return next((session for session in stories if session.running), stories[0])

    async def session(self, session_id: int) -> Session:
        """A session by its number. Raises NotFound."""
        session = await self._store.session(session_id)
        if session is None:
            raise NotFound("session-unknown")
        return session

    async def stories(self, channel_id: int) -> tuple[Session, ...]:
        """All stories of a channel, newest first."""
        return await self._store.sessions_in(channel_id)

    async def figures(self, session_id: int) -> SessionFigures:
        """Counts of a session."""
        return await self._store.figures(session_id)

    # Turns

    async def hear(self, message: PlayerMessage) -> Heard | None:
        """Commit a player's message before anything else happens; None when no session runs there or it is known."""
        if not (message.text.strip() or message.pictures):
            return None
        return await self._hearing.commit(message, self._due())

    @asynccontextmanager
    async def between_replies(self, session_id: int) -> AsyncIterator[None]:
        """Within it no reply of a session is being written; one that is under way is waited for."""
        async with self._reply_locks.setdefault(session_id, asyncio.Lock()):
            yield

    async def reply(self, session_id: int, *, unasked: bool = False, watch: Watch | None = None) -> Reply | None:
        """Write the next reply, when its turn has come, and commit it; None when nothing is unanswered any more.

        Who of the cast gives it, the players decide, or their order. With ``unasked`` a character goes on although nobody
        waits. ``watch`` gets the reply's draft before a word of it is
        written. Raises UserError when there is no answer; then nothing of it is in the story.
        """
        async with self.between_replies(session_id), self._recorder.collecting() as made:
            try:
                begun = await self._store.begin_reply(session_id, self._clock(), unasked=unasked)
            except LookupError:  # the story was removed meanwhile, on a person's wish
                return None
            if begun is None:
                return None
            kept = False
            try:
                reply = await self._write(begun, watch, made)
                kept = True
                return reply
            finally:
                if not kept:
                    await self._store.fail_reply(begun.turn.id)

    async def goes_on(self, session_id: int, reply: Reply | None = None) -> bool:
        """Whether another of the cast, whom the last words called, wants to reply although nobody waits.

        After a ``reply`` in a story of one character alone, nobody is asked.
        """
        return (reply is None or bool(reply.session.others)) and await self.casting.goes_on(session_id)

    async def retell(self, session_id: int, turn_id: int, *, watch: Watch | None = None) -> Reply:
        """Write the newest reply once more; the former tellings stay reachable, and never happened.

        ``watch`` gets the new telling's draft. Raises Refused when something follows it or the story is stopped, and UserError
        when there is no answer; then the story stays as it was.
        """
        async with self.between_replies(session_id), self._recorder.collecting() as made:
            session, reply = await self.session(session_id), await self._store.newest_turn(session_id)
            if not session.running:
                raise Refused("retell-paused")
            if reply is not None and reply.id == turn_id and reply.author.is_player:
                raise Refused("retell-unanswered")
            if reply is None or reply.id != turn_id or reply.seq <= session.folded_to:
                raise Refused("retell-not-newest")
            speaker = session.author(reply)
            if session.member(speaker.id) is None:
                raise Refused("cast-gone", name=speaker.card.name)
            snapshot = await self._prompter.snapshot(session_id, speaker.id)
            before = tuple(turn for turn in snapshot.turns if turn.seq < reply.seq)
            draft = self._draft(snapshot.session, reply, watch)
            written = await self._writer.written(replace(snapshot, turns=before), draft, made.add)
            told = await self._store.tell_anew(
                turn_id, reply.revision, written.telling, self._due(), written.tail, calls=made.calls
            )
            if told is None:
                raise Refused("retell-not-newest")
            made.calls.clear()
            await self._revive(written.tail)
            log.info("session %d turn %d: told anew", session_id, told.seq)
            return self._reply(snapshot.session, told, cut=written.telling.was_cut)

    async def choose_telling(self, session_id: int, turn_id: int, number: int) -> Reply:
        """Let a former telling of the newest reply stand in the story. Raises Refused when something follows it."""
        async with self.between_replies(session_id):
            told = await self._store.choose_telling(turn_id, number)
        if told is None:
            raise Refused("retell-not-newest")
        _, tellings = await self._store.tellings(turn_id)
        return self._reply(await self.session(session_id), told, cut=tellings[number - 1].was_cut)

    async def begun(self, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> None:
        """Tie messages that show a part of a reply to its turn, so that the next process knows them if this one ends."""
        await self._store.show_messages(turn_id, channel_id, message_ids)

    async def delivered(self, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> None:
        """Tie exactly the messages that carry a reply to its turn, which is delivered with that, unless its story was removed."""
        with suppress(LookupError):
            await self._store.tie_messages(turn_id, channel_id, message_ids)

    async def messages_of(self, turn_id: int) -> tuple[int, ...]:
        """The messages that carry a turn, the oldest first."""
        return await self._store.messages_of(turn_id)

    async def tied(self, message_ids: Sequence[int]) -> frozenset[int]:
        """Those of the messages that carry a turn."""
        return await self._store.tied(message_ids)

    async def undeliverable(self, turn_id: int) -> None:
        """Discord refused the reply: it never happened."""
        with suppress(LookupError):
            await self._store.fail_reply(turn_id)

    async def recover(self) -> Recovery:
        """What to do first after a start. Call it once per process, before any message is heard."""
        broken_off = await self._replies(await self._store.unfinished())
        interrupted = await self._store.interrupted()
        undelivered = await self._replies(await self._store.undelivered())
        return Recovery(undelivered, broken_off, interrupted, await self._store.last_messages())

    async def message_edited(self, message_id: int, text: str, pictures: Sequence[str] = ()) -> None:
        """A message has a new text or other pictures; unknown messages, and texts that are the same, change nothing."""
        found = await self._store.turn_of_message(message_id)
        if found is None or not found[1].author.is_player or not (text.strip() or pictures):
            return
        session, turn = found
        persona = await self._store.persona(turn.author.persona_id) if turn.author.persona_id else None
        text = without_brackets(text, persona) if persona else text
        marks = session.manners.marks
        text, beats = attached.written(text, turn.author.name, pictures, session.language, marks=marks)
        if text == turn.raw:
            return
        tokens = self._counter.guess(f"{turn.author.name}: {text}")
        await self._store.edit_turn(turn.id, text, beats, tokens, self._clock(), self.render(session))

    async def messages_deleted(self, message_ids: Sequence[int]) -> None:
        """Messages were taken back; unknown ones change nothing."""
        for message_id in message_ids:
            found = await self._store.turn_of_message(message_id)
            if found is not None:
                await self._store.delete_turns([message_id], self._clock(), self.render(found[0]))

    # Memory

    async def offered(self, session_id: int, typed: str) -> tuple[Memory, ...]:
        """The memories that somebody may mean who has typed so much, by number: the newest in use, all that a moderator settled,
        those with the words, and the one of the number whatever has become of it.
        """
        bare = typed.strip().lstrip("#")
        found = await self._store.newest_memories(
            session_id, int(bare) if bare.isdecimal() and len(bare) < _DIGITS else None
        )
        words = recall.typed_words(typed)
        lines = await self._store.find_words(session_id, words) if words else ()
        return SessionMemory(memories=found).with_found([line.memory for line in lines if line.memory]).memories

    async def leaf(
        self, session_id: int, index: int, kind: MemoryKind | None = None, *, number: int | None = None
    ) -> Leaf:
        """A leaf of what a session remembers, by its index from 0, or the one that shows a memory of a ``number``.

        Raises NotFound.
        """
        if number is None:
            return await self._store.leaf(session_id, index, kind)
        if number >= 10 ** (_DIGITS - 1):
            raise NotFound("memory-unknown", number=number)
        leaf = await self._store.leaf_with(session_id, number, kind)
        if leaf is None:
            is_known = await self._store.detail(session_id, number) is not None
            raise NotFound("memory-not-shown" if is_known else "memory-unknown", number=number)
        return leaf

    async def detail(self, session_id: int, number: int) -> MemoryDetail:
        """A memory with its history and evidence. Raises NotFound."""
        found = await self._store.detail(session_id, number) if number < 10 ** (_DIGITS - 1) else None
        if found is None:
            raise NotFound("memory-unknown", number=number)
        return found

    async def search(self, session_id: int, text: str) -> tuple[Found, ...]:
        """The memories and turns with the typed words, the best first: only what every player may read."""
        words = recall.typed_words(text)
        return recall.matching(words, await self._store.find_words(session_id, words))

    async def archive(self, session_id: int) -> Archive:
        """A whole story for export. Raises NotFound."""
        archive = await self._store.archive(session_id)
        if archive is None:
            raise NotFound("session-unknown")
        return archive

    def render(self, session: Session) -> Callable[[SessionMemory], Head]:
        """How what changed of a session's memory stands in its prompts."""
        return self._renderer.for_session(session, self.budgets)

    # Webhooks

    async def own_webhooks(self) -> frozenset[int]:
        """The ids of the webhooks we made: their messages are our own."""
        return await self._store.own_webhooks()

    async def remember_webhook(self, channel_id: int, webhook_id: int) -> None:
        """A webhook of ours was made or found."""
        await self._store.add_webhook(channel_id, webhook_id)

    async def forget_webhook(self, webhook_id: int) -> None:
        """Somebody deleted a webhook of ours."""
        await self._store.forget_webhook(webhook_id)

    # Inside

    async def _write(self, begun: Begun, watch: Watch | None, made: Collected) -> Reply:
        snapshot = await self._prompter.prepared(begun.snapshot)
        # What arrived since the reply was begun stands behind it, and is answered by the next one.
        snapshot = replace(snapshot, turns=tuple(turn for turn in snapshot.turns if turn.seq < begun.turn.seq))
        written = await self._writer.written(snapshot, self._draft(snapshot.session, begun.turn, watch), made.add)
        turn = await self._store.finish_reply(
            begun.turn.id, written.telling, self._due(), written.tail, people=self._knows_people, calls=made.calls
        )
        made.calls.clear()
        await self._revive(written.tail)
        return self._reply(snapshot.session, turn, cut=written.telling.was_cut)

    async def _revive(self, tail: Tail | None) -> None:
        if tail is not None and tail.revived:
            await self._store.revive(tail.revived, self._clock())

    @staticmethod
    def _draft(session: Session, reply: Turn, watch: Watch | None) -> Draft | None:
        if watch is None:
            return None
        draft = Draft(session.author(reply), reply.id)
        watch(draft)
        return draft

    async def _replies(self, found: Iterable[tuple[Session, Turn]]) -> tuple[Reply, ...]:
        replies = []
        for session, turn in found:
            number, tellings = await self._store.tellings(turn.id)
            replies.append(self._reply(session, turn, cut=tellings[number - 1].was_cut))
        return tuple(replies)

    def _due(self) -> Due:
        budgets = self.budgets
        return Due(
            lambda raw, memory: policy.crosses_trigger(budgets, raw, memory), at=self._clock() + self._fold_delay
        )

    def _reply(self, session: Session, turn: Turn, *, cut: bool = False) -> Reply:
        text = markup.shown(turn.raw, turn.beats, session.author(turn).card.name)
        return Reply(session, turn, markup.ended_at_sentence(text) if cut else text)
