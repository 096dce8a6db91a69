"""The use cases: what players, moderators and the gateway ask for. Knows neither Discord nor SQL.

Two kinds of lock keep a session in order. The store's write transactions give every turn its place. A lock per session, held
while a reply is written, makes replies follow one another; a message that arrives meanwhile is committed at once and answered
by the next reply.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from weakref import WeakValueDictionary

from bot.counting import TokenCounter
from bot.errors import ModelUnavailable, NotAllowed, NotFound, Refused, WindowExceeded
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory import corrections, markup, policy, recall
from bot.memory.corrections import Correction, CorrectionError
from bot.memory.folding import reply_schema
from bot.memory.language import detect_language
from bot.memory.memories import Memory, SessionMemory
from bot.memory.messages import Message
from bot.memory.prompt import Card
from bot.memory.recall import Found, Limits
from bot.memory.story import (
    Archive,
    Character,
    Head,
    LastMessage,
    MemoryDetail,
    Place,
    Scope,
    Session,
    SessionFigures,
    Snapshot,
)
from bot.memory.turns import BeatKind, PlayerMessage, Turn
from bot.prompting import Prompt, Prompter
from bot.rendering import Renderer
from bot.store import Due, Store

log = logging.getLogger(__name__)

# A reply may be tried again with fewer turns when the server says that its window is smaller than we thought.
_WINDOW_TRIES: Final = 3
# A small model may only think, and a hosted one may answer nothing: drawn again once, as a refusal is.
_DRAWS: Final = 2
_VISIBLE: Final = (BeatKind.NARRATION, BeatKind.SPEECH)


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that was committed; ``is_answered`` says whether the character answers it."""

    session: Session
    is_answered: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """A committed reply; ``text`` is what players may see of it."""

    session: Session
    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class Started:
    """A new session, with the character's greeting when there is one."""

    session: Session
    greeting: Reply | None


@dataclass(frozen=True, slots=True)
class Recovery:
    """What the last process left: replies that may not have reached Discord, and sessions whose players wait.

    ``last_messages`` say up to where each running session knows its channel: what came later was written while no process
    was there to hear it.
    """

    undelivered: tuple[Reply, ...]
    interrupted: tuple[Session, ...]
    last_messages: tuple[LastMessage, ...]


class Engine:
    """Every use case, one method each.

    ``budgets`` gives the budgets for a window in tokens, with the operator's overrides. ``fold_delay`` is how long after the
    turn that crosses the trigger a fold is due. ``clock`` gives aware UTC times. ``recall_limits`` bounds what a reply is
    reminded of, and ``people_tokens`` what it is told of the persons present; with none, nobody gets known.
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
        self._temperature = temperature
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
        self._reply_locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    @property
    def budgets(self) -> policy.Budgets:
        """The budgets for the window that the model reported last."""
        return self._budgets(self._model.profile.window)

    def model_label(self) -> str:
        """Which model answers, for people to read."""
        return self._model.profile.model

    # Characters

    async def create_character(self, scope: Scope, card: Card, avatar_url: str) -> Character:
        """Store a card. Raises Refused when it has no name or the name is taken."""
        name = markup.plain_name(card.name)
        if name == "?":
            raise Refused("character-name-empty")
        tidy = Card(name, card.description.strip(), card.first_message.strip())
        return await self._store.add_character(scope, tidy, avatar_url, self._clock())

    async def characters(self, scope: Scope) -> tuple[Character, ...]:
        """The characters that may be played here."""
        return await self._store.characters(scope)

    async def character(self, scope: Scope, name: str) -> Character:
        """A character by name. Raises NotFound."""
        found = await self._store.character_named(scope, name)
        if found is None:
            raise NotFound("character-unknown", name=name)
        return found

    async def remove_character(self, scope: Scope, name: str, *, by: int, is_moderator: bool) -> Character:
        """Take a character out of use; its stories stay readable.

        Raises NotFound, NotAllowed for anybody but its owner and moderators, and Refused while a session plays it.
        """
        character = await self.character(scope, name)
        if by != character.scope.owner_id and not is_moderator:
            raise NotAllowed("character-not-yours", name=character.card.name)
        if await self._store.character_in_use(character.id):
            raise Refused("character-in-use", name=character.card.name)
        await self._store.remove_character(character.id, self._clock())
        return character

    # Sessions

    async def start_session(self, place: Place, scope: Scope, character_name: str, *, greeting: bool) -> Started:
        """Begin a new story. Raises NotFound, and Refused when a session already runs in this channel."""
        character = await self.character(scope, character_name)
        card = character.card
        language = detect_language(f"{card.description}\n{card.first_message}" if card.description else card.name)
        first = card.first_message if greeting else ""
        opening = (first, markup.parse_reply(first, card.name), self._counter.guess(first)) if first else None
        head = self._renderer.head(SessionMemory(), language, self.budgets)
        session, turn = await self._store.start_session(place, character.id, language, opening, head, self._clock())
        log.info("session %d started in channel %d with character %d", session.id, place.channel_id, character.id)
        return Started(session, self._reply(session, turn) if turn else None)

    async def stop_session(self, channel_id: int) -> Session:
        """End the channel's running session; it stays readable. Raises NotFound."""
        session = await self._store.running_session(channel_id)
        if session is None:
            raise NotFound("session-none")
        await self._store.stop_session(session.id, self._clock())
        return session

    async def resume_session(self, channel_id: int, session_id: int | None) -> Session:
        """Go on with a stopped story of this channel, by default the newest. Raises NotFound and Refused."""
        stories = await self._store.sessions_in(channel_id)
        chosen = [s for s in stories if session_id in (None, s.id)]
        if not chosen:
            raise NotFound("session-none" if session_id is None else "session-unknown")
        if chosen[0].running:
            raise Refused("session-already-running")
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
        session = await self._store.running_session(message.channel_id)
        if session is None or not message.text.strip():
            return None
        message = replace(message, author_name=markup.plain_name(message.author_name))
        beats = markup.parse_player(message.text, message.author_name)
        tokens = self._counter.guess(f"{message.author_name}: {message.text}")
        turn = await self._store.add_player_turn(session.id, message, beats, tokens, self._due())
        return Heard(session, not turn.is_out_of_character) if turn else None

    async def reply(self, session_id: int) -> Reply | None:
        """Write the next reply, when its turn has come, and commit it; None when nothing is unanswered any more.

        Raises UserError when there is no answer; then nothing of it is in the story.
        """
        lock = self._reply_locks.setdefault(session_id, asyncio.Lock())
        async with lock:
            try:
                place = await self._store.begin_reply(session_id, self._clock())
            except LookupError:  # the story was removed meanwhile, on a person's wish
                return None
            if place is None:
                return None
            kept = False
            try:
                reply = await self._write(session_id, place)
                kept = True
                return reply
            finally:
                if not kept:
                    await self._store.fail_reply(place.id)

    @asynccontextmanager
    async def between_replies(self, session_id: int) -> AsyncIterator[None]:
        """Within it no reply of a session is being written; one that is under way is waited for."""
        async with self._reply_locks.setdefault(session_id, asyncio.Lock()):
            yield

    async def delivered(self, turn_id: int, channel_id: int, message_ids: Sequence[int]) -> None:
        """Tie the messages that carry a reply to its turn, unless its story was removed meanwhile."""
        with suppress(LookupError):
            await self._store.tie_messages(turn_id, channel_id, message_ids)

    async def undeliverable(self, turn_id: int) -> None:
        """Discord refused the reply: it never happened."""
        with suppress(LookupError):
            await self._store.fail_reply(turn_id)

    async def recover(self) -> Recovery:
        """What to do first after a start. Call it once per process, before any message is heard."""
        interrupted = await self._store.interrupted()
        undelivered = await self._store.undelivered()
        replies = tuple(self._reply(session, turn) for session, turn in undelivered)
        return Recovery(replies, interrupted, await self._store.last_messages())

    async def message_edited(self, message_id: int, text: str) -> None:
        """A message has a new text; unknown messages, and texts that are the same, change nothing."""
        found = await self._store.turn_of_message(message_id)
        if found is None or not found[1].author.is_player or found[1].raw == text or not text.strip():
            return
        session, turn = found
        beats = markup.parse_player(text, turn.author.name)
        tokens = self._counter.guess(f"{turn.author.name}: {text}")
        await self._store.edit_turn(turn.id, text, beats, tokens, self._clock(), self._render(session))

    async def messages_deleted(self, message_ids: Sequence[int]) -> None:
        """Messages were taken back; unknown ones change nothing."""
        for message_id in message_ids:
            found = await self._store.turn_of_message(message_id)
            if found is not None:
                await self._store.delete_turns([message_id], self._clock(), self._render(found[0]))

    # Memory

    async def memory(self, session_id: int) -> SessionMemory:
        """Everything a session remembers, in use or not."""
        return await self._store.memory(session_id)

    async def detail(self, session_id: int, number: int) -> MemoryDetail:
        """A memory with its history and evidence. Raises NotFound."""
        found = await self._store.detail(session_id, number)
        if found is None:
            raise NotFound("memory-unknown", number=number)
        return found

    async def correct(
        self,
        session_id: int,
        correction: Correction,
        number: int,
        *,
        version: int | None = None,
        flag_id: int | None = None,
    ) -> Memory:
        """Carry out a moderator's correction; the next reply's prompt has it.

        ``version`` is the memory's version that the moderator decided on, when that is known, and ``flag_id`` the report that
        the correction settles. Raises NotFound, and Refused when it makes no sense or somebody else changed the memory, or
        settled the report, at the same moment.
        """
        detail = await self.detail(session_id, number)
        if version not in (None, detail.memory.version):
            raise Refused("correction-conflict", number=number)
        session = await self.session(session_id)
        memory = detail.memory
        try:
            changed = corrections.corrected(
                memory, correction, speaker=_speaker(detail, session), history=detail.history
            )
        except CorrectionError as error:
            raise Refused(error.code, number=error.number) from error
        saved = await self._store.save_correction(
            session_id,
            memory.version,
            changed,
            by=str(correction.moderator_id),
            reason=correction.reason,
            at=self._clock(),
            render=self._render(session),
            answers=None if flag_id is None else (flag_id, correction.kind),
        )
        if not saved:
            raise Refused("correction-conflict", number=number)
        log.info("session %d memory %d: %s by a moderator", session_id, number, correction.kind)
        return changed

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

    async def _write(self, session_id: int, place: Turn) -> Reply:
        snapshot = await self._prompter.snapshot(session_id)
        for _ in range(_DRAWS):
            prompt, completion = await self._complete(session_id, snapshot)
            if completion.finish_reason == "content_filter":
                raise ModelUnavailable("model-filtered", detail="content_filter")
            beats = markup.parse_reply(completion.text, snapshot.session.character.card.name)
            if any(beat.kind in _VISIBLE for beat in beats):
                break
            log.info("session %d: a reply with nothing to show", session_id)
        else:
            raise ModelUnavailable("model-empty", detail=completion.finish_reason)
        turn = await self._store.finish_reply(
            place.id,
            completion.text,
            beats,
            completion.usage.completion_tokens or self._counter.guess(completion.text),
            completion.finish_reason,
            completion.usage.prompt_tokens,
            completion.usage.cached_tokens,
            completion.usage.completion_tokens,
            completion.model,
            self._due(),
            prompt.tail,
            people=self._knows_people,
        )
        if prompt.tail is not None and prompt.tail.revived:
            await self._store.revive(prompt.tail.revived, self._clock())
        await self._counter.learn(prompt.messages, completion)
        return self._reply(snapshot.session, turn, cut=completion.finish_reason == "length")

    async def _complete(self, session_id: int, snapshot: Snapshot) -> tuple[Prompt, Completion]:
        """A completion and the prompt it answers, cut further while the server says that it does not fit its window."""
        for attempt in range(_WINDOW_TRIES):
            prompt = await self._prompter.prompt(snapshot, halvings=attempt)
            try:
                return prompt, await self._ask(session_id, prompt.messages)
            except WindowExceeded:
                log.warning("session %d: the prompt did not fit the server's window", session_id)
                await self._model.probe()
        raise ModelUnavailable("model-window", detail=f"does not fit after {_WINDOW_TRIES} cuts")

    async def _ask(self, session_id: int, messages: tuple[Message, ...]) -> Completion:
        return await self._model.complete(
            ModelRequest(
                messages,
                Purpose.REPLY,
                max_tokens=self.budgets.reply_output,
                schema=reply_schema(self.budgets.reply_output),
                schema_name="reply",
                temperature=self._temperature,
                session_id=session_id,
            )
        )

    def _due(self) -> Due:
        budgets = self.budgets
        return Due(
            lambda raw, memory: policy.crosses_trigger(budgets, raw, memory), at=self._clock() + self._fold_delay
        )

    def _render(self, session: Session) -> Callable[[SessionMemory], Head]:
        return self._renderer.for_session(session, self.budgets)

    def _reply(self, session: Session, turn: Turn, *, cut: bool = False) -> Reply:
        text = markup.shown(turn.raw, turn.beats, session.character.card.name)
        return Reply(session, turn, markup.ended_at_sentence(text) if cut else text)


def _speaker(detail: MemoryDetail, session: Session) -> str:
    """Who a claim belongs to: the speaker of a cited line of speech, else the author of what is cited."""
    by_seq = {turn.seq: turn for turn, _ in detail.turns}
    beats = [beat for c in detail.memory.cites if (turn := by_seq.get(c.seq)) and (beat := turn.beat(c))]
    spoken = [beat for beat in beats if beat.kind is BeatKind.SPEECH]
    return (spoken or beats)[0].speaker if beats else session.character.card.name
