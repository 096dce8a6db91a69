"""What a message costs the bot's process, beside a bare discord.py bot that says again what it hears.

Both hear the same messages from the same loopback Discord and answer each through a webhook; Kataribe asks a scripted model
first, and commits what it hears and says. Discord, the model and the players are in this process, whose work is not counted.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from bot import charts
from bot.core import open_core
from bot.demo.process import Child, stopped_at_exit
from bot.errors import KataribeError
from bot.evals.light_discord import TOKEN, LightDiscord, Said, light_discord
from bot.evals.machinery import settings_for
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import open_run
from bot.evals.scripted import scripted_model
from bot.evals.tally import Mistakes, Rows, Tally, mistakes, number_in
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope
from bot.settings import child_environment
from bot.store import Store

Count = Callable[[int], object]

MOST_FACTOR: Final = 3.0
"""A message may cost so many times what it costs the echo bot, in processor time."""
ARMS: Final = {"echo": "bot.evals.echo", "kataribe": "bot.demo.child"}

# Discord allows 500 channels in a guild; a community that plays has some dozens.
_CHANNELS: Final = 50
_PLAYERS: Final = ("Mio", "Ren")
_SEED: Final = 1
# As many as a large server works on at once.
_SLOTS: Final = 16
_SHARES: Final = (0.5, 0.95, 0.99)
_SECONDS_TO_START: Final = 60
# So long without any answer, and what is still unanswered is lost, in seconds: a bot that cannot keep up commits all that it
# hears before it answers.
_PATIENCE: Final = 120
_OPENINGS: Final = (
    "I found the old lamp",
    "We walked past",
    "Somebody has painted",
    "The tide took",
    "I am looking for",
)
_PLACES: Final = ("the harbour", "the market hall", "the lighthouse", "the chapel stairs", "a courtyard full of cats")
_ENDINGS: Final = ("before the rain comes", "and it was quieter than before", "with a lantern and a bag of pears")
_CARD: Final = Card(
    "Rin",
    "Rin keeps the lighthouse at the end of the pier. She is dry, patient and curious, distrusts the harbour master, and "
    "writes down every ship that passes. She has a brother whom she does not mention, and a cat named Ballast.",
)


class CannotMeasure(KataribeError):
    """This machine does not say what another process uses, or the bot did not start."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used: seconds of processor time, and bytes of memory that it holds."""

    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Arm:
    """How one bot fared. Latencies are seconds from a message to its answer; ``cpu`` is milliseconds per answer.

    ``rate`` are answers within a second, ``together`` the messages answered along with a later one, ``memory`` the bytes that
    the process grew by for each session, ``wire`` the share of a core that Discord, the model and the players took.
    """

    sent: int
    answers: int
    together: int
    rate: float
    latencies: tuple[float, ...]
    cpu: float
    memory: float
    wire: float
    notices: int
    requests: Mapping[str, int]
    mistakes: Mistakes

    def latency(self, share: float) -> float:
        """The latency that this share of the messages does not exceed, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def usage_of(pid: int) -> Usage:
    """What a process uses, as Linux tells. Raises CannotMeasure elsewhere."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except OSError as error:
        raise CannotMeasure("What another process uses is read from /proc, which this machine has not.") from error
    ticks = int(fields[11]) + int(fields[12])
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), int(pages) * os.sysconf("SC_PAGE_SIZE"))


async def run(*, sessions: int, rate: float, seconds: float, as_json: bool, out: Path | None) -> bool:
    """Measure both bots and print the figures; whether nothing was lost or doubled, and a message costs no more than it may."""
    settings = {"sessions": sessions, "rate": rate, "seconds": seconds, "model": "scripted"}
    opened = open_run("bench load", out, settings=settings, seed=_SEED)
    with progress(2 * round(sessions + rate * seconds), "messages") as count:
        arms = await measure(sessions=sessions, rate=rate, seconds=seconds, count=count)
    factor = arms["kataribe"].cpu / arms["echo"].cpu
    well = factor <= MOST_FACTOR and all(arm.mistakes.none for arm in arms.values())
    whole = opened.save({"factor": round(factor, 2), **{name: _figures(arm) for name, arm in arms.items()}})
    await asyncio.to_thread(_draw, arms, opened.picture("load.png"))
    print(json.dumps(whole, indent=1) if as_json else _table(arms, factor))
    return well


async def measure(
    *,
    sessions: int,
    rate: float,
    seconds: float,
    arms: Iterable[str] = ARMS,
    count: Count = lambda _: None,
) -> dict[str, Arm]:
    """Let each bot hear ``rate`` messages a second for so many seconds, spread over the sessions; ``count`` is told of each."""
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        async with scripted_model(_reply) as model:
            for arm in arms:
                figures[arm] = await _Run(arm, Path(folder), model, sessions, rate, seconds, count).figures()
    return figures


def _figures(arm: Arm) -> dict[str, Any]:
    latencies = {f"p{round(share * 100)}": round(arm.latency(share), 4) for share in _SHARES}
    values = {field.name: getattr(arm, field.name) for field in fields(arm) if field.name != "latencies"}
    return {**values, "latency": latencies, "mistakes": asdict(arm.mistakes)}


def _table(arms: Mapping[str, Arm], factor: float) -> str:
    parts = []
    for name, arm in arms.items():
        rows = [
            ("messages, answers", f"{arm.sent}, {arm.answers} ({arm.together} answered along with a later one)"),
            ("answers a second", f"{arm.rate:.1f}"),
            ("latency, s", ", ".join(f"p{round(share * 100)} {arm.latency(share):.3f}" for share in _SHARES)),
            ("processor time per answer", f"{arm.cpu:.2f} ms"),
            ("memory per session", f"{arm.memory / 1024:.1f} KiB"),
            ("lost", counts({what: n for what, n in arm.mistakes.lost.items() if n})),
            ("doubled", counts({what: n for what, n in arm.mistakes.doubled.items() if n})),
            ("notices of failure", str(arm.notices)),
            ("Discord, model and players took", f"{arm.wire:.0%} of a core"),
        ]
        parts.append(table(name, rows))
    return "\n".join([*parts, f"a message costs {factor:.2f} times the echo bot's (at most {MOST_FACTOR:g})"])


def _draw(arms: Mapping[str, Arm], path: Path) -> None:
    """How many of the messages were answered within a time."""
    drawn = charts.figure(8, 4.5)
    axes = drawn.subplots()
    for (name, arm), colour in zip(arms.items(), charts.COLOURS, strict=False):
        ordered = sorted(arm.latencies)
        shares = [place / len(ordered) for place in range(1, len(ordered) + 1)]
        axes.plot([max(each, 1e-4) * 1000 for each in ordered], shares, color=colour, label=name)
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds from a message to its answer")
    axes.set_ylabel("share of the messages answered")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    path.write_bytes(charts.png(drawn))


def _reply(purpose: str, newest: str) -> str:
    """What the model writes: of some length, with the number of the newest message that it was shown."""
    number = number_in(newest)
    if purpose != "reply":
        return "{}"
    return json.dumps(
        {
            "beats": [
                {"kind": "narration", "speaker": "", "text": "Rin looks up from the log book and lets the pen rest."},
                {
                    "kind": "speech",
                    "speaker": "Rin",
                    "text": f"Ballast saw it first, as always. That makes it m{number}.",
                },
                {"kind": "thought", "speaker": "Rin", "text": "He must not hear of my brother."},
            ]
        }
    )


class _Run:
    """One bot's run."""

    def __init__(
        self, arm: str, folder: Path, model: str, sessions: int, rate: float, seconds: float, count: Count
    ) -> None:
        self._arm, self._folder, self._model, self._count = arm, folder, model, count
        self._sessions, self._rate, self._seconds = sessions, rate, seconds
        self._database = folder / "load.db"
        self._tally = Tally(together=arm == "kataribe")
        self._numbers = itertools.count(1)
        self._script = random.Random(_SEED)  # noqa: S311 - the same words each time
        self._channels = list(range(1_000_000, 1_000_000 + sessions))
        self._script.shuffle(self._channels)

    async def figures(self) -> Arm:
        starts = range(0, self._sessions, _CHANNELS)
        guilds = {100_000 + at: sorted(self._channels)[at : at + _CHANNELS] for at in starts}
        if self._arm == "kataribe":
            await self._begin_stories(guilds)
        async with light_discord(guilds, self._heard) as discord, self._bot(discord) as bot:
            idle = usage_of(bot.process.pid)
            # Each session once, so that all are at work and know their webhooks.
            await self._play(discord, bot, self._sessions)
            before, mine, began, sent = (
                usage_of(bot.process.pid),
                time.process_time(),
                time.monotonic(),
                len(self._tally.sent),
            )
            answers = sum(said.by_webhook for said in discord.standing)
            await self._play(discord, bot, round(self._rate * self._seconds))
            after, spent = usage_of(bot.process.pid), time.process_time() - mine
            took = max(self._tally.answered.values(), default=time.monotonic()) - began
            await asyncio.sleep(0.5)  # what comes twice may come late
            standing = discord.standing
        answers = sum(said.by_webhook for said in standing) - answers
        counted = [each for each in self._tally.sent.values() if each.number > sent]
        at = self._tally.answered
        return Arm(
            sent=len(counted),
            answers=answers,
            together=sum(each.number in at for each in counted) - answers,
            rate=answers / took,
            latencies=tuple(at[each.number] - each.at for each in counted if each.number in at),
            cpu=(after.cpu - before.cpu) * 1000 / max(1, answers),
            memory=(after.memory - idle.memory) / self._sessions,
            wire=spent / took,
            notices=sum(not said.by_webhook for said in standing),
            requests=dict(sorted(discord.requests.items())),
            mistakes=mistakes(self._tally, standing, await self._rows() if self._arm == "kataribe" else None),
        )

    def _heard(self, said: Said) -> None:
        self._tally.hear(said, time.monotonic())

    async def _begin_stories(self, guilds: Mapping[int, Sequence[int]]) -> None:
        """A story in each channel, begun as players begin it."""
        settings = settings_for(self._model, self._database, {})
        async with open_core(settings) as core:
            for guild, channels in guilds.items():
                scope = Scope(guild, 0)
                await core.characters.create(scope, _CARD, "")
                for channel in channels:
                    await core.engine.start_session(Place(guild, channel), scope, _CARD.name, greeting=False)

    @asynccontextmanager
    async def _bot(self, discord: LightDiscord) -> AsyncIterator[Child]:
        log = self._folder / f"{self._arm}.log"
        environment = child_environment(
            {
                "DISCORD_TOKEN": TOKEN,
                "DATABASE_URL": f"sqlite+aiosqlite:///{self._database.as_posix()}",
                "LLM_BASE_URL": self._model,
                "LLM_PARALLEL": str(_SLOTS),
                "LLM_WAITING_REPLIES": str(self._sessions),
                "PLAYER_REPLIES_PER_MINUTE": "0",
                "GUILD_REPLIES_PER_MINUTE": "0",
                "PYTHONHASHSEED": "0",
            }
        )
        bot = await Child.start(
            self._arm, ["-m", ARMS[self._arm], *discord.arguments], errors_to=log, environment=environment
        )
        async with stopped_at_exit(bot):
            try:
                async with asyncio.timeout(_SECONDS_TO_START):
                    await discord.connected.wait()
            except TimeoutError:
                lines = log.read_text(encoding="utf-8").splitlines()[-1:]
                raise CannotMeasure(f"{self._arm} did not start: {' '.join(lines)}") from None
            # discord.py waits two seconds for one more guild.
            await asyncio.sleep(2.5)
            yield bot

    async def _play(self, discord: LightDiscord, bot: Child, messages: int) -> None:
        """Let so many messages be written, each at its time, and wait for the answers."""
        began = time.monotonic()
        for count in range(messages):
            await asyncio.sleep(max(0.0, began + count / self._rate - time.monotonic()))
            number = next(self._numbers)
            channel = self._channels[number % self._sessions]
            who = number // self._sessions % len(_PLAYERS)
            text = f"{' '.join(self._script.choice(of) for of in (_OPENINGS, _PLACES, _ENDINGS))}, m{number}."
            self._tally.send(number, channel, time.monotonic())
            discord.send(channel, channel * 10 + who, _PLAYERS[who], text)
            self._count(1)
        left, since = self._tally.left, time.monotonic()
        while self._tally.left and time.monotonic() - since < _PATIENCE and bot.running:
            await asyncio.sleep(0.05)
            if self._tally.left < left:
                left, since = self._tally.left, time.monotonic()

    async def _rows(self) -> Rows:
        heard: Counter[int] = Counter()
        replies: list[tuple[int | None, tuple[int, ...]]] = []
        unanswered = 0
        async with await Store.open(f"sqlite+aiosqlite:///{self._database.as_posix()}") as store:
            for channel in self._channels:
                for session in await store.sessions_in(channel):
                    waiting = 0
                    for turn in await store.turns(session.id, 1, 1_000_000):
                        number = number_in(turn.raw)
                        if turn.author.is_player:
                            waiting += 1
                            heard.update([] if number is None else [number])
                        else:
                            waiting = 0
                            replies.append((number, await store.messages_of(turn.id)))
                    unanswered += waiting
        return Rows(heard, tuple(replies), unanswered)
