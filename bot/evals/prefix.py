"""``kataribe bench prefix``: how much of each prompt a real server takes from its cache, and what each break was due to.

A scripted player talks to a character through the real engine, store and folder. The server is the one in ``LLM_BASE_URL``, or
llama.cpp with the small model that the demo uses.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from bot.core import Core, open_core
from bot.demo.embedded import EmbeddedModel
from bot.demo.model import small_model
from bot.errors import UserError
from bot.evals.machinery import Clock
from bot.evals.progress import progress
from bot.evals.runs import open_run
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import PlayerMessage
from bot.settings import Settings, load_settings

_SEED: Final = 20261130
_REPLY_TOKENS: Final = 48
# A prompt that repeats the one before it is reused to all but a few tokens; at a break, only the head is.
_BROKEN_BELOW: Final = 0.9
_CARD: Final = Card(
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


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one reply cost, in tokens. ``cause`` is why its prompt differs from the one before it, or empty."""

    turn: int
    prompt: int
    cached: int
    broken: bool
    cause: str


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome of a run; token figures are sums over the exchanges named."""

    turns: int
    exchanges: tuple[Exchange, ...]
    folds: int
    major_folds: int
    failed_folds: int
    forced_cuts: int
    unanswered: int

    @property
    def reused_on_ordinary_turns(self) -> float:
        """The share of prompt tokens that came from the cache where nothing had changed the memory, the first turn apart."""
        ordinary = [e for e in self.exchanges[1:] if not e.cause]
        return sum(e.cached for e in ordinary) / max(1, sum(e.prompt for e in ordinary))

    @property
    def breaks(self) -> Counter[str]:
        """How many prompts broke, by cause."""
        return Counter(e.cause or "unexplained" for e in self.exchanges[1:] if e.broken)


async def run(*, turns: int, as_json: bool, out: Path | None) -> bool:
    """Play ``turns`` exchanges and print the figures."""
    made = open_run("bench prefix", out, settings={"turns": turns}, seed=_SEED)
    with tempfile.TemporaryDirectory() as folder:
        async with _settings(Path(folder)) as settings:
            clock = Clock()
            async with open_core(settings, clock=clock) as core:
                with progress(turns, "bench prefix") as advance:
                    figures = await play(core, clock, turns, advance)
                window = core.model.profile.window
                made.note(model=core.model.profile.model, budgets=asdict(settings.budgets(window)))
                whole = made.save(
                    {
                        "reused_on_ordinary_turns": round(figures.reused_on_ordinary_turns, 4),
                        "breaks": dict(figures.breaks),
                        **asdict(figures),
                    }
                )
                print(json.dumps(whole, indent=1) if as_json else _as_table(figures, core))
    return True


@asynccontextmanager
async def _settings(folder: Path) -> AsyncIterator[Settings]:
    """The operator's settings with a database of our own, and the small model where no other is named."""
    chosen = load_settings()
    changes: dict[str, object] = {
        "database_url": f"sqlite:///{(folder / 'bench.db').as_posix()}",
        "fold_delay_seconds": 0,
        "llm_reply_tokens": _REPLY_TOKENS,
    }
    if chosen.llm_base_url is not None:
        yield chosen.model_copy(update=changes)
        return
    async with EmbeddedModel(await small_model(), log=folder / "model.log", context=16_384, slots=2) as server:
        yield chosen.model_copy(
            update={
                **changes,
                "llm_base_url": server.base_url,
                "llm_api_key": SecretStr(server.api_key),
                "llm_parallel": 2,
            }
        )


async def play(core: Core, clock: Clock, turns: int, advance: Callable[[int], object]) -> Figures:
    """The script: a message, its reply, and then whatever folds are due."""
    scope, place = Scope(1, 10), Place(1, 2)
    await core.characters.create(scope, _CARD, "")
    session = (await core.engine.start_session(place, scope, _CARD.name, greeting=True)).session
    lines = random.Random(_SEED)  # noqa: S311 - a repeatable script, not a secret
    exchanges: list[Exchange] = []
    unanswered = 0
    before = await _state(core, session)
    for number in range(turns):
        clock.pass_minutes(1)
        text = f"{lines.choice(_OPENINGS)} {lines.choice(_PLACES)} {lines.choice(_ENDINGS)}"
        await core.engine.hear(PlayerMessage(1_000 + number, place.channel_id, 10, "Mio", text, clock.time))
        try:
            await core.engine.reply(session.id)
        except UserError as error:
            print(f"turn {number}: {error}", file=sys.stderr)
            unanswered += 1
            continue
        after = await _state(core, session)
        exchanges.append(await _exchange(core, session, number, exchanges, _cause(before, after)))
        await core.folder.run_due()
        before = after
        advance(1)
    return await _figures(core, session, turns, exchanges, unanswered)


@dataclass(frozen=True, slots=True)
class _State:
    """What decides the head of a prompt."""

    head: str
    synopsis: int
    raw_from: int


async def _state(core: Core, session: Session) -> _State:
    snapshot = await core.store.snapshot(session.id)
    memory = await core.store.memory(session.id)
    absorbed = sum(chapter.absorbed for chapter in memory.chapters)
    return _State(snapshot.memory_text, absorbed, snapshot.session.raw_from)


def _cause(before: _State, after: _State) -> str:
    if after.synopsis != before.synopsis:
        return "major fold"
    if after.head != before.head:
        return "fold"
    return "forced cut" if after.raw_from != before.raw_from else ""


async def _exchange(core: Core, session: Session, number: int, earlier: list[Exchange], cause: str) -> Exchange:
    calls = [c for c in await core.store.calls(session.id) if c.purpose == "reply"]
    prompt, cached = calls[-1].prompt_tokens or 0, calls[-1].cached_tokens or 0
    broken = bool(earlier) and cached < _BROKEN_BELOW * earlier[-1].prompt
    return Exchange(number, prompt, cached, broken, cause)


async def _figures(core: Core, session: Session, turns: int, exchanges: list[Exchange], unanswered: int) -> Figures:
    memory = await core.store.memory(session.id)
    latest = await core.store.session(session.id)
    failed = sum(1 for fold in (await core.store.figures(session.id)).folds if fold.state == "failed")
    causes = Counter(e.cause for e in exchanges)
    return Figures(
        turns, tuple(exchanges), len(memory.chapters), causes["major fold"], failed,
        latest.forced_cuts if latest else 0, unanswered,
    )  # fmt: skip


def _as_table(figures: Figures, core: Core) -> str:
    computed = sum(e.prompt - e.cached for e in figures.exchanges)
    whole = sum(e.prompt for e in figures.exchanges)
    rows = [
        ("model", core.model.profile.model),
        ("exchanges", f"{len(figures.exchanges)} of {figures.turns}"),
        ("prompt tokens reused on ordinary turns", f"{figures.reused_on_ordinary_turns:.4f}"),
        ("prompt tokens computed, of all", f"{computed:,} of {whole:,} ({computed / max(1, whole):.3f})"),
        ("chapters", str(figures.folds)),
        ("major folds", str(figures.major_folds)),
        ("folds given up", str(figures.failed_folds)),
        ("forced cuts", str(figures.forced_cuts)),
        *((f"breaks: {cause}", str(count)) for cause, count in sorted(figures.breaks.items())),
    ]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)
