"""The conversation that ``kataribe bench prefix`` plays: a scripted player talks to a character through the real engine.

What each exchange sent and cost is kept on disk, a JSON line an exchange, beside the story's database; a play that was stopped
goes on at the next turn.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bot.core import Core
from bot.errors import KataribeError, NotFound, UserError
from bot.evals.machinery import Clock
from bot.llm.requests import Purpose
from bot.memory import prompt
from bot.memory.messages import Message
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import PlayerMessage, unanswered
from bot.store import Call

SEED: Final = 20261130
CARD: Final = Card(
    "Isla",
    "Keeper of a small harbour inn. Curious, patient, fond of maps. She asks what the sea was like and answers in a "
    "sentence or two.",
    '*The lamp over the bar is lit.* "Come in, the door sticks. Where did the sea bring you from?"',
)
_OPENINGS: Final = (
    "I walk to",
    "Tell me about",
    "Yesterday I saw",
    "My sister lives near",
    "I would like to draw",
    "We passed",
)
_PLACES: Final = (
    "the harbour",
    "the old lighthouse",
    "the salt market",
    "the bell tower",
    "the north pier",
    "the chapel",
)
_ENDINGS: Final = (
    "before the rain comes.", "and it was quieter than I remember.", "because somebody has to.",
    "with a lantern and a bag of pears.", "and nobody there knew my name.", "on the last ferry of the day.",
)  # fmt: skip
_SCOPE: Final = Scope(1, 10)
_PLACE: Final = Place(1, 2)
_FIRST_MESSAGE: Final = 1_000


@dataclass(frozen=True, slots=True)
class Exchange:
    """One reply: what was sent, what came back, and what the server counted, in tokens.

    ``said`` is what it answers, as the prompt shows it. ``prompt`` and ``cached`` are those of the first draw, ``computed`` of all
    draws; ``memory_work`` is what requests for the memory computed since the exchange before. ``restarted``: the play
    was stopped before it, so the server's cache may have been cold.
    """

    turn: int
    model: str
    messages: tuple[Message, ...]
    said: str
    reply: str
    prompt: int
    cached: int
    computed: int
    memory_work: int
    chapters: int
    absorbed: int
    raw_from: int
    last_call: int
    restarted: bool = False

    @property
    def head(self) -> str:
        """The memory as this prompt showed it."""
        return self.messages[1].content


@dataclass(frozen=True, slots=True)
class Miss:
    """A turn that got no reply, why, and how many prompt tokens were computed in vain."""

    turn: int
    unanswered: str
    computed: int
    last_call: int


@dataclass(slots=True)
class Log:
    """The exchanges kept in a file, and the turns that got no reply."""

    path: Path
    exchanges: list[Exchange]
    missed: list[Miss]

    @classmethod
    def read(cls, path: Path) -> Log:
        """What the file holds."""
        rows = read_rows(path)
        log = cls(path, [], [Miss(**row) for row in rows if "unanswered" in row])
        for row in rows:
            if "unanswered" not in row:
                messages = tuple(Message(role, content) for role, content in row["messages"])
                log.exchanges.append(Exchange(**{**row, "messages": messages}))
        return log

    @property
    def next_turn(self) -> int:
        """The first turn that was not played yet."""
        return max((one.turn for one in self._all), default=-1) + 1

    @property
    def last_call(self) -> int:
        """The newest request that was kept."""
        return max((one.last_call for one in self._all), default=0)

    @property
    def _all(self) -> list[Exchange | Miss]:
        return [*self.exchanges, *self.missed]

    def add(self, exchange: Exchange) -> None:
        """Keep one more."""
        messages = [[message.role, message.content] for message in exchange.messages]
        add_row(self.path, {**asdict(exchange), "messages": messages})
        self.exchanges.append(exchange)

    def miss(self, miss: Miss) -> None:
        """Keep that a turn got no reply."""
        add_row(self.path, asdict(miss))
        self.missed.append(miss)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The JSON lines of a file; one that was cut when its writer was stopped is dropped from it."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    if lines and not lines[-1].endswith("\n"):
        path.write_text("".join(lines[:-1]), encoding="utf-8")
        lines.pop()
    return [json.loads(line) for line in lines]


def add_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a line of JSON to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def script() -> Iterator[str]:
    """What the player writes, without end and always the same."""
    lines = random.Random(SEED)  # noqa: S311 - a repeatable script, not a secret
    while True:
        yield f"{lines.choice(_OPENINGS)} {lines.choice(_PLACES)} {lines.choice(_ENDINGS)}"


async def play(core: Core, clock: Clock, turns: int, log: Log, advance: Callable[[int], object]) -> Session:
    """Play on up to so many turns: a message, its reply, and then whatever folds are due.

    Raises KataribeError when the log is of another model, or the server does not count what its cache held.
    """
    name = core.model.profile.model
    if log.exchanges and log.exchanges[0].model != name:
        raise KataribeError(
            f"{log.path} was played with {log.exchanges[0].model}, and the model is {name} now; "
            "name another folder with --out."
        )
    await core.engine.recover()
    session = await _session(core)
    start = log.next_turn
    advance(min(start, turns))
    # A reply that was committed just before the stop is still to be kept, as it was before any fold.
    if start and not await _calls_since(core, session, log):
        await core.folder.run_due()
    cold = start > 0
    for number, text in zip(range(turns), script(), strict=False):
        clock.pass_minutes(1)
        if number < start:
            continue
        message = PlayerMessage(_FIRST_MESSAGE + number, _PLACE.channel_id, 10, "Mio", text, clock.time)
        await core.engine.hear(message)
        try:
            written = await core.engine.reply(session.id)
        except UserError as error:
            print(f"turn {number}: {error}", file=sys.stderr)
            calls = await _calls_since(core, session, log)
            last = calls[-1].id if calls else log.last_call
            log.miss(Miss(number, error.code, _computed(calls), last))
            advance(1)
            continue
        log.add(await _exchange(core, session, number, log, restarted=cold and written is not None))
        cold = cold and written is None
        await core.folder.run_due()
        advance(1)
    return session


async def _session(core: Core) -> Session:
    running = await core.engine.running_session(_PLACE.channel_id)
    if running is not None:
        return running
    try:
        await core.engine.character(_SCOPE, CARD.name)
    except NotFound:
        await core.characters.create(_SCOPE, CARD, "")
    return (await core.engine.start_session(_PLACE, _SCOPE, CARD.name, greeting=True)).session


async def _calls_since(core: Core, session: Session, log: Log) -> list[Call]:
    """The answered requests since the last exchange that was kept."""
    calls = await core.store.calls(session.id)
    return [call for call in calls if call.id > log.last_call and call.prompt_tokens is not None]


async def _exchange(core: Core, session: Session, number: int, log: Log, *, restarted: bool) -> Exchange:
    calls = await _calls_since(core, session, log)
    if not calls or any(call.cached_tokens is None for call in calls):
        raise KataribeError("this model server does not say how much of a prompt its cache held.")
    drawn = [call for call in calls if call.purpose == Purpose.REPLY]
    snapshot = await core.store.snapshot(session.id)
    memory = await core.store.memory(session.id)
    shown = [t for t in snapshot.turns if t.seq >= snapshot.session.raw_from and not t.is_out_of_character]
    reply, before = shown[-1], shown[:-1]
    system = prompt.system_text(
        snapshot.character.card, snapshot.session.language, json_reply=core.model.profile.json_schema
    )
    return Exchange(
        turn=number,
        model=core.model.profile.model,
        messages=prompt.build(system, snapshot.memory_text, before, snapshot.session.language, snapshot.viewer_id),
        said="\n".join(prompt.turn_text(turn) for turn in unanswered(before)),
        reply=reply.raw,
        prompt=drawn[0].prompt_tokens or 0,
        cached=drawn[0].cached_tokens or 0,
        computed=_computed(drawn),
        memory_work=_computed([call for call in calls if call.purpose != Purpose.REPLY]),
        chapters=len(memory.chapters),
        absorbed=sum(chapter.absorbed for chapter in memory.chapters),
        raw_from=snapshot.session.raw_from,
        last_call=calls[-1].id,
        restarted=restarted,
    )  # fmt: skip


def _computed(calls: list[Call]) -> int:
    return sum((call.prompt_tokens or 0) - (call.cached_tokens or 0) for call in calls)
