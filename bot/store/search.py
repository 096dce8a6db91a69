"""The words of turns and memories, and looking them up. What only SQLite can say stands here: its full-text index.

Rows of ``findable`` are written in the transaction that writes the turn or memory they stand for; SQLite's index follows
them by triggers. Every word in it begins with its session's id, so that a look-up reads that session's lines alone. Without
SQLite the rows themselves are read by LIKE, which finds the same and costs more in a long session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Float,
    Select,
    and_,
    bindparam,
    case,
    column,
    delete,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    table,
    text,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.likeness import features
from bot.memory.memories import Memory, MemoryKind, MemoryStatus
from bot.memory.recall import LONGEST_FEATURE, words_of_memory, words_of_turn
from bot.memory.turns import Turn, TurnState
from bot.store.tables import findable, memories, turns

# Before 3.42 FTS5 cannot overwrite what is deleted; merging the whole index drops it, at the price of writing it anew.
# https://www.sqlite.org/fts5.html#the_secure_delete_configuration_option
_SECURE_DELETE: Final = (3, 42, 0)
_INDEX: Final = table("findable_index", column("rowid"))
_TERMS: Final = table("findable_terms", column("term"), column("doc"))
_ADD: Final = insert(findable)
_FINDABLE: Final = (MemoryStatus.ACTIVE, MemoryStatus.CONDENSED)
# A loose end that is open or tied is also found by its words as a loose end, behind this sign: a tied one by these alone.
_END: Final = ":"
_FINDABLE_END: Final = (MemoryStatus.ACTIVE, MemoryStatus.RESOLVED)
UNFINDABLE_END: Final = and_(
    memories.c.kind == MemoryKind.LOOSE_END,
    memories.c.status.in_((MemoryStatus.STALE, MemoryStatus.RETRACTED, MemoryStatus.REPLACED)),
    or_(memories.c.status != MemoryStatus.REPLACED, memories.c.resolved_by.is_not(None)),
)
"""The other loose ends that must not be opened again; there are few."""
MOST_POSTINGS: Final = 2_000
"""Of a word that more lines have, the newest are looked at."""
# Of lines with as much weight those with the rarer word are likelier.
_RARER: Final = 0.001
_LAST: Final = "\U0010ffff"


def is_of_index(name: str | None) -> bool:
    """Whether a table is one of the full-text index, which SQLite makes and alters by itself."""
    return bool(name and name.startswith(("findable_index", "findable_terms")))


async def index_new_turn(connection: AsyncConnection, session_id: int, turn: Turn) -> None:
    """Add the words of a turn that was not kept before this transaction."""
    words = _line(words_of_turn(turn.beats))
    if words:
        row = {"session_id": session_id, "seq": turn.seq, "number": None, "at": turn.at, "words": words}
        await connection.execute(_ADD, row)


async def index_turn(connection: AsyncConnection, session_id: int, turn: Turn) -> None:
    """Bring a turn's words in line with the turn: what it has lost leaves the index, a turn that is not kept altogether."""
    place = and_(findable.c.session_id == session_id, findable.c.seq == turn.seq)
    before = await connection.scalar(select(findable.c.words).where(place))
    if before is None:
        if turn.state is TurnState.KEPT:
            await index_new_turn(connection, session_id, turn)
        return
    words = _line(words_of_turn(turn.beats)) if turn.state is TurnState.KEPT else ""
    if before != words:
        change = update(findable).where(place).values(words=words) if words else delete(findable).where(place)
        await connection.execute(change)


async def index_new_turns(connection: AsyncConnection, session_id: int, added: Iterable[Turn]) -> None:
    """Write the words of kept turns that have none in the index yet."""
    rows = [
        {"session_id": session_id, "seq": turn.seq, "number": None, "at": turn.at, "words": words}
        for turn in added
        if (words := _line(words_of_turn(turn.beats)))
    ]
    if rows:
        await connection.execute(insert(findable), rows)


async def index_memories(connection: AsyncConnection, session_id: int, changed: Iterable[Memory], at: datetime) -> None:
    """Bring the words of memories in line with them; those that are neither in use nor condensed leave the index, but for
    loose ends that were tied.

    A line's date is that of the newest turn or line it rests on, else ``at``.
    """
    known = tuple(changed)
    numbers = [memory.number for memory in known]
    if not numbers:
        return
    of_session = findable.c.session_id == session_id
    dates = await _dates(connection, session_id, known)
    kept = select(findable.c.number, findable.c.at).where(of_session, findable.c.number.in_(numbers))
    former = {row.number: row.at for row in await connection.execute(kept)}
    if former:
        await connection.execute(delete(findable).where(of_session, findable.c.number.in_(former)))
    rows = [
        {
            "session_id": session_id,
            "seq": None,
            "number": memory.number,
            "at": former.get(memory.number) or dates.get(memory.number, at),
            "words": words,
        }
        for memory in known
        if (words := _line(_words_of(memory)))
    ]
    if rows:
        await connection.execute(insert(findable), rows)


async def scrub(connection: AsyncConnection) -> None:
    """After words were taken back: let nothing of them stay in the index's file."""
    if _has_index(connection) and sqlite3.sqlite_version_info < _SECURE_DELETE:
        await connection.execute(text("INSERT INTO findable_index(findable_index) VALUES ('optimize')"))


async def count_words(connection: AsyncConnection, session_id: int, wanted: Collection[str]) -> dict[str, int]:
    """How many lines of a session have each of the words."""
    if not wanted:
        return {}
    counts = dict.fromkeys(wanted, 0)
    if _has_index(connection):
        terms = {f"{session_id}:{word}": word for word in wanted}
        statement: Select[Any] = select(_TERMS.c.term, _TERMS.c.doc).where(_TERMS.c.term.in_(terms))
        counts |= {terms[row.term]: int(row.doc) for row in await connection.execute(statement)}
        return counts
    ordered = list(wanted)
    sums = [func.sum(_has(word)).label(f"n{index}") for index, word in enumerate(ordered)]
    row = (await connection.execute(select(*sums).where(findable.c.session_id == session_id))).one()
    return {word: int(count or 0) for word, count in zip(ordered, row, strict=True)}


async def likeliest(
    connection: AsyncConnection,
    session_id: int,
    weighed: Mapping[str, float],
    *,
    before: int | None,
    most: int,
    postings: int = MOST_POSTINGS,
) -> list[Any]:
    """The rows of ``findable`` that have most of some words by weight, the heaviest first, of equals the newest.

    ``before`` is the seq that turns must stand before; memories have none. A word that ends in ``*`` stands for all that
    begin so. Of each word the newest lines are looked at, as many as ``postings``.
    """
    if not weighed:
        return []
    if not _has_index(connection):
        weight = sum(
            (_has(word) * literal(weight, Float) for word, weight in weighed.items()), start=literal(0.0, Float)
        )
        statement = select(findable).where(or_(*(findable.c.words.like(_pattern(word)) for word in weighed)))
        statement = statement.where(findable.c.session_id == session_id)
        if before is not None:
            statement = statement.where(or_(findable.c.seq.is_(None), findable.c.seq < before))
        ordered = statement.order_by(weight.desc(), findable.c.id.desc())
        return list((await connection.execute(ordered.limit(most))).all())
    terms = await _terms(connection, session_id, weighed)
    lists = [_matching(found, weighed[word], postings) for word, found in terms.items() if found]
    if not lists:
        return []
    hits = union_all(*lists).subquery("hits")
    weight = func.sum(hits.c.weight)
    best = select(hits.c.id, weight.label("weight")).group_by(hits.c.id)
    if before is not None:
        later = select(findable.c.id).where(findable.c.session_id == session_id, findable.c.seq >= before)
        best = best.where(hits.c.id.not_in(later))
    # The lines themselves are read only for those: they are long.
    found = best.order_by(weight.desc(), hits.c.id.desc()).limit(most).subquery()
    lines = select(findable).join(found, found.c.id == findable.c.id).where(findable.c.session_id == session_id)
    return list((await connection.execute(lines.order_by(found.c.weight.desc(), findable.c.id.desc()))).all())


async def _terms(connection: AsyncConnection, session_id: int, words: Iterable[str]) -> dict[str, list[str]]:
    """What stands in the index for each of some words; for one that ends in ``*`` all that begin so.

    A search of the index for the beginning of words sorts all their lines, however few of them are wanted.
    """
    found = {word: [f"{session_id}:{word}"] for word in words if not word.endswith("*")}
    begun = [word for word in words if word.endswith("*")]
    if begun:
        stems = {word: f"{session_id}:{word[:-1]}" for word in begun}
        # Not joined by OR: of terms with one rowid, which they have in each list, SQLite would then drop all but one.
        ranges = [select(_TERMS.c.term).where(_TERMS.c.term.between(s, f"{s}{_LAST}")) for s in stems.values()]
        known = list(await connection.scalars(union_all(*ranges)))
        found |= {word: [term for term in known if term.startswith(stem)] for word, stem in stems.items()}
    return found


def as_end(words: Iterable[str]) -> list[str]:
    """Words as loose ends are found by them."""
    return [f"{_END}{word[:LONGEST_FEATURE]}" for word in words]


def _words_of(memory: Memory) -> frozenset[str]:
    found = words_of_memory(memory) if memory.status in _FINDABLE else frozenset[str]()
    if memory.kind is MemoryKind.LOOSE_END and memory.status in _FINDABLE_END:
        found |= set(as_end(features(memory.content.text)))
    return found


def _matching(terms: Iterable[str], weight: float, most: int) -> Select[Any]:
    """The ids of the newest lines with one of some terms, each with its weight."""
    phrase = " OR ".join(f'"{term}"' for term in terms)
    match = literal_column("findable_index").op("MATCH")(bindparam(None, phrase, unique=True))
    newest = select(_INDEX.c.rowid.label("id")).where(match).order_by(_INDEX.c.rowid.desc()).limit(most)
    found = newest.subquery()
    return select(found.c.id, (literal(weight, Float) + _RARER / func.count().over()).label("weight"))


def _has(word: str) -> ColumnElement[int]:
    return case((findable.c.words.like(_pattern(word)), 1), else_=0)


def _pattern(word: str) -> str:
    """Words hold no character that LIKE takes for a sign."""
    return f"% {word.removesuffix('*')}%" if word.endswith("*") else f"% {word} %"


async def _dates(connection: AsyncConnection, session_id: int, known: Iterable[Memory]) -> dict[int, datetime]:
    """When what memories tell took place: the time of the newest turn they cite, else of the newest line they condense."""
    cited = {cite.seq for memory in known for cite in memory.cites}
    condensed = {number for memory in known for number in memory.condenses}
    told = select(turns.c.seq, turns.c.at).where(turns.c.session_id == session_id, turns.c.seq.in_(cited))
    lines = select(findable.c.number, findable.c.at).where(
        findable.c.session_id == session_id, findable.c.number.in_(condensed)
    )
    of_turn = {row.seq: row.at for row in await connection.execute(told)} if cited else {}
    of_line = {row.number: row.at for row in await connection.execute(lines)} if condensed else {}
    found = {}
    for memory in known:
        times = [of_turn[cite.seq] for cite in memory.cites if cite.seq in of_turn]
        times = times or [of_line[number] for number in memory.condenses if number in of_line]
        if times:
            found[memory.number] = max(times)
    return found


def _has_index(connection: AsyncConnection) -> bool:
    return connection.dialect.name == "sqlite"


def _line(words: Iterable[str]) -> str:
    joined = " ".join(sorted(words))
    return f" {joined} " if joined else ""
