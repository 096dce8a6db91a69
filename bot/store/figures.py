"""Counting: what the rows say of one story, or of all of them, in a fixed number of statements. No text is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import ColumnElement, Row, Select, Table, and_, exists, func, or_, select, true, union, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.figures import (
    NEWEST,
    POINTS,
    Asked,
    BotFigures,
    Cost,
    Figures,
    Reuse,
    Spread,
    StoryFigures,
    points_of,
)
from bot.memory.memories import MemoryStatus
from bot.memory.story import FoldKind, FoldState
from bot.memory.turns import AuthorKind, TurnState
from bot.store.people_tables import judgements, persona_labels
from bot.store.rows import Topic
from bot.store.tables import calls, chapters, flags, folds, memories, players, sessions, turns, versions

K = TypeVar("K")

# What the requests for replies are recorded as.
_REPLY: Final = "reply"
# How the codes of errors begin; how a model says that it is done never does.
_ERRORS: Final = "model-"
_MAJOR: Final = "major fold"
_FOLDS: Final = ("fold", _MAJOR)
_DIGITS: Final = tuple("0123456789")
_SECOND: Final = 1000.0
# One try of such a fold has come to something, or still may.
_TRYING: Final = (FoldState.RUNNING, FoldState.DONE)


class FigureStore(Topic):
    """Each function reads one state of the database; what it returns does not grow with the stories."""

    async def story_figures(self, session_id: int) -> StoryFigures:
        """One story's figures. Raises LookupError."""
        head = select(sessions.c.memory_tokens, func.length(sessions.c.memory_text).label("characters"))
        async with self._database.read_aside() as connection:
            row = (await connection.execute(head.where(sessions.c.id == session_id))).one_or_none()
            if row is None:
                raise LookupError(f"no session {session_id}")
            asked, first = await _asked(connection, session_id)
            times = await _fold_times(connection, session_id, asked[0].at) if asked else ()
            figures = await _figures(connection, session_id)
        return StoryFigures(figures, row.memory_tokens, row.characters, points_of(asked, times), first)

    async def bot_figures(self) -> BotFigures:
        """The figures of all stories."""
        stories = select(func.count(), func.count(sessions.c.stopped_at)).select_from(sessions)
        # Whoever speaks as a persona has a label of that alone.
        labelled = union(select(players.c.player_id), select(persona_labels.c.player_id)).subquery()
        heads = select(sessions.c.memory_tokens).where(sessions.c.memory_tokens > 0)
        async with self._database.read_aside() as connection:
            all_of_them, stopped = (await connection.execute(stories)).one()
            known = await connection.scalar(select(func.count()).select_from(labelled))
            newest = await connection.scalars(heads.order_by(sessions.c.id.desc()).limit(NEWEST))
            return BotFigures(
                await _figures(connection, None),
                running=all_of_them - stopped,
                stopped=stopped,
                players=known or 0,
                head_tokens=Spread.of(list(newest)),
                judgements=_nested(await _counted(connection, judgements, None, "kind", "state")),
                database_bytes=await self._database.size(connection),
            )


async def _figures(connection: AsyncConnection, session_id: int | None) -> Figures:
    authors = await _counted(connection, turns, session_id, "author_kind", where=turns.c.state == TurnState.KEPT)
    by_author = {row.author_kind: row.number for row in authors}
    of_folds = await _counted(connection, folds, session_id, "kind", "state", total=folds.c.attempts)
    asked = await _calls(connection, session_id)
    seconds = await _seconds(connection, session_id, sorted({row.purpose for row in asked}))
    lengths = await _chapter_lengths(connection, session_id)
    corrections, undone = await _corrections(connection, session_id)
    is_used = memories.c.status == MemoryStatus.ACTIVE
    errors = and_(folds.c.error != "", folds.c.state.in_((FoldState.DUE, FoldState.FAILED)))
    return Figures(
        turns=sum(by_author.values()),
        replies=by_author.get(AuthorKind.CHARACTER, 0),
        folds=_nested(of_folds),
        fold_seconds=await _fold_seconds(connection, session_id),
        fold_errors={row.error: row.number for row in await _counted(connection, folds, session_id, "error", where=errors)},
        tries_in_vain=sum(int(row.total) - row.number * (row.state in _TRYING) for row in of_folds),
        rejected=_codes((row.purpose, row.rejection, row.number) for row in asked if row.rejection),
        unanswered=_codes((row.purpose, row.outcome, row.number) for row in asked if row.outcome.startswith(_ERRORS)),
        answer_seconds={purpose: spread for purpose, (spread, _) in seconds.items() if spread},
        wait_seconds={purpose: spread for purpose, (_, spread) in seconds.items() if spread},
        costs=_costs(asked),
        reuse=Reuse(
            sum(int(row.told or 0) for row in asked if row.purpose == _REPLY),
            sum(int(row.cached or 0) for row in asked if row.purpose == _REPLY),
        ),
        ordinary=await _ordinary(connection, session_id),
        chapters=lengths[0],
        chapter_turns=Spread.of(lengths[1]),
        lines={r.kind: r.number for r in await _counted(connection, memories, session_id, "kind", where=is_used)},
        forced_cuts=await _forced_cuts(connection, session_id),
        corrections=corrections,
        undone=undone,
        reports={row.state: row.number for row in await _counted(connection, flags, session_id, "state")},
    )  # fmt: skip


def _of(table: Table, session_id: int | None) -> ColumnElement[bool]:
    """The rows of a story, or all."""
    return true() if session_id is None else table.c.session_id == session_id


async def _counted(
    connection: AsyncConnection,
    table: Table,
    session_id: int | None,
    *names: str,
    where: ColumnElement[bool] | None = None,
    total: ColumnElement[int] | None = None,
) -> Sequence[Row[Any]]:
    """The rows by the columns of these names, each group with its ``number``, and the ``total`` of a column if one is given."""
    columns = [table.c[name] for name in names]
    counted = [func.count().label("number")]
    if total is not None:
        counted.append(func.sum(total).label("total"))
    statement = select(*columns, *counted).where(_of(table, session_id), true() if where is None else where)
    return (await connection.execute(statement.group_by(*columns).order_by(*columns))).all()


def _nested(counted: Iterable[Row[Any]]) -> dict[Any, dict[FoldState, int]]:
    nested: dict[Any, dict[FoldState, int]] = defaultdict(dict)
    for row in counted:
        nested[row.kind][row.state] = row.number
    return dict(nested)


def _codes(counted: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, int]]:
    by_purpose: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for purpose, code, count in counted:
        by_purpose[purpose][code] += count
    return {purpose: dict(codes) for purpose, codes in by_purpose.items()}


async def _calls(connection: AsyncConnection, session_id: int | None) -> Sequence[Row[Any]]:
    """The requests by purpose, model and what became of them; ``told`` are the prompt tokens where the cached ones are known."""
    keys = calls.c.purpose, calls.c.model, calls.c.outcome, calls.c.rejection
    prompt, cached = calls.c.prompt_tokens, calls.c.cached_tokens
    statement = select(
        *keys,
        func.count().label("number"),
        func.sum(prompt - func.coalesce(cached, 0)).label("computed"),
        func.sum(cached).label("cached"),
        func.sum(prompt).filter(cached.is_not(None)).label("told"),
        func.sum(calls.c.completion_tokens).label("written"),
        func.sum(calls.c.milliseconds).label("milliseconds"),
        func.sum(calls.c.waited_milliseconds).label("waited"),
        func.sum(calls.c.interruptions).label("interruptions"),
    )
    return (await connection.execute(statement.where(_of(calls, session_id)).group_by(*keys).order_by(*keys))).all()


def _costs(asked: Iterable[Row[Any]]) -> tuple[Cost, ...]:
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0] * 7)
    for row in asked:
        parts = row.number, row.computed, row.cached, row.written, row.milliseconds, row.waited, row.interruptions
        sums[row.purpose, row.model] = [
            a + int(b or 0) for a, b in zip(sums[row.purpose, row.model], parts, strict=True)
        ]
    return tuple(
        Cost(
            purpose, model, int(count), int(computed), int(cached), int(written),
            milliseconds / _SECOND, waited / _SECOND, int(interruptions),
        )
        for (purpose, model), (count, computed, cached, written, milliseconds, waited, interruptions) in sums.items()
    )  # fmt: skip


async def _newest(connection: AsyncConnection, statements: Sequence[Select[Any]]) -> Sequence[Row[Any]]:
    """The rows of all the statements, each of which has a limit of its own."""
    if not statements:
        return ()
    limited = [select(statement.limit(NEWEST).subquery()) for statement in statements]
    return (await connection.execute(union_all(*limited))).all()


async def _fold_seconds(connection: AsyncConnection, session_id: int | None) -> dict[FoldKind, Spread]:
    done = select(folds.c.kind, folds.c.claimed_at, folds.c.finished_at).where(
        _of(folds, session_id), folds.c.state == FoldState.DONE, folds.c.claimed_at.is_not(None)
    )
    newest = done.order_by(folds.c.id.desc())
    seconds: dict[FoldKind, list[float]] = defaultdict(list)
    for row in await _newest(connection, [newest.where(folds.c.kind == kind) for kind in FoldKind]):
        seconds[row.kind].append((row.finished_at - row.claimed_at).total_seconds())
    return _spreads(seconds)


async def _seconds(
    connection: AsyncConnection, session_id: int | None, purposes: Sequence[str]
) -> dict[str, tuple[Spread | None, Spread | None]]:
    """How long answers took, and how long their requests waited."""
    answered = select(calls.c.purpose, calls.c.milliseconds, calls.c.waited_milliseconds).where(
        _of(calls, session_id), ~calls.c.outcome.startswith(_ERRORS)
    )
    newest = answered.order_by(calls.c.id.desc())
    took: dict[str, list[float]] = defaultdict(list)
    waited: dict[str, list[float]] = defaultdict(list)
    for row in await _newest(connection, [newest.where(calls.c.purpose == purpose) for purpose in purposes]):
        took[row.purpose].append(row.milliseconds / _SECOND)
        if row.waited_milliseconds is not None:
            waited[row.purpose].append(row.waited_milliseconds / _SECOND)
    return {purpose: (Spread.of(took[purpose]), Spread.of(waited[purpose])) for purpose in took}


def _spreads(figures: Mapping[K, Sequence[float]]) -> dict[K, Spread]:
    return {key: spread for key, values in figures.items() if (spread := Spread.of(values))}


async def _ordinary(connection: AsyncConnection, session_id: int | None) -> Reuse:
    """Of the replies whose prompts stand as those of the replies before them stood."""
    before = func.lag(calls.c.epoch).over(partition_by=calls.c.session_id, order_by=calls.c.id)
    replies = (
        select(
            calls.c.prompt_tokens.label("prompt"),
            calls.c.cached_tokens.label("cached"),
            calls.c.epoch,
            before.label("before"),
        )
        .where(_of(calls, session_id), calls.c.purpose == _REPLY, calls.c.prompt_tokens.is_not(None))
        .subquery()
    )
    statement = select(func.sum(replies.c.prompt), func.sum(replies.c.cached)).where(
        replies.c.epoch == replies.c.before, replies.c.cached.is_not(None)
    )
    prompt, cached = (await connection.execute(statement)).one()
    return Reuse(int(prompt or 0), int(cached or 0))


async def _chapter_lengths(connection: AsyncConnection, session_id: int | None) -> tuple[int, list[int]]:
    """How many chapters there are, and how many turns the newest of them cover."""
    in_sight = _of(chapters, session_id), chapters.c.aside.is_not(True)
    lengths = select(chapters.c.last - chapters.c.first + 1).where(*in_sight).order_by(chapters.c.at.desc())
    number = await connection.scalar(select(func.count()).select_from(chapters).where(*in_sight))
    return number or 0, list(await connection.scalars(lengths.limit(NEWEST)))


async def _forced_cuts(connection: AsyncConnection, session_id: int | None) -> int:
    which = true() if session_id is None else sessions.c.id == session_id
    return int(await connection.scalar(select(func.sum(sessions.c.forced_cuts)).where(which)) or 0)


async def _corrections(connection: AsyncConnection, session_id: int | None) -> tuple[int, int]:
    """The versions that moderators made, and those of them that brought back what stood before."""
    last, earlier = versions.alias("last"), versions.alias("earlier")

    def same(one: Any, other: Any) -> ColumnElement[bool]:
        names = "kind", "text", "speaker", "addressee", "actual", "player_id", "private"
        return and_(*(one.c[name].is_not_distinct_from(other.c[name]) for name in names))

    def of_same_memory(one: Any) -> ColumnElement[bool]:
        return and_(one.c.session_id == versions.c.session_id, one.c.number == versions.c.number)

    retracted = MemoryStatus.RETRACTED
    returned = exists().where(of_same_memory(earlier), earlier.c.version < last.c.version, same(earlier, versions))
    brought_back = or_(
        and_(same(last, versions), last.c.status == retracted, versions.c.status != retracted),
        and_(~same(last, versions), returned),
    )
    counted = (
        select(func.count(), func.count().filter(brought_back))
        .join_from(versions, last, and_(of_same_memory(last), last.c.version == versions.c.version - 1))
        .where(_of(versions, session_id), func.substr(versions.c.by, 1, 1).in_(_DIGITS))
    )
    corrections, undone = (await connection.execute(counted)).one()
    return corrections, undone


async def _asked(connection: AsyncConnection, session_id: int) -> tuple[list[Asked], int]:
    """The newest requests for replies, oldest first, and the number of the first of them."""
    counted = calls.c.session_id == session_id, calls.c.purpose == _REPLY, calls.c.prompt_tokens.is_not(None)
    known = *counted, calls.c.epoch.is_not(None), calls.c.forced_cuts.is_not(None)
    columns = calls.c.prompt_tokens, calls.c.cached_tokens, calls.c.epoch, calls.c.forced_cuts, calls.c.at
    newest = select(*columns).where(*known).order_by(calls.c.id.desc()).limit(POINTS)
    rows = (await connection.execute(newest)).all()
    number = await connection.scalar(select(func.count()).select_from(calls).where(*counted)) or 0
    return [Asked(*row) for row in reversed(rows)], number - len(rows) + 1


async def _fold_times(connection: AsyncConnection, session_id: int, since: datetime) -> list[tuple[datetime, bool]]:
    """When folds changed the memory, each with whether it was a major one."""
    found = versions.c.session_id == session_id, versions.c.by.in_(_FOLDS), versions.c.at >= since
    written = select(versions.c.at, versions.c.by).where(*found).distinct()
    covered = select(chapters.c.at).where(chapters.c.session_id == session_id, chapters.c.at >= since)
    times = [(row.at, row.by == _MAJOR) for row in await connection.execute(written)]
    return times + [(at, False) for at in await connection.scalars(covered)]
