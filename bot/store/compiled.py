"""Statements that are asked again and again, in SQLite's own words.

To execute a statement that it knows takes SQLAlchemy several times as long as it takes SQLite. What is put together once, as most
of a message's way is, is therefore compiled by SQLAlchemy once, with all that converts its values, and then given to Python's
driver as it is. What is put together anew each time goes through SQLAlchemy, as everything does on other databases.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import CompoundSelect, CursorResult, Delete, Dialect, Executable, Insert, Select, Update
from sqlalchemy.exc import InvalidRequestError, MultipleResultsFound, NoResultFound
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

T = TypeVar("T")
Process = Callable[[Any], Any]

# Who executes a statement so often has put it together once. To compile one costs as much as to have SQLAlchemy execute it some
# times.
_OFTEN: Final = 3
# Characters: the raw turns of some dozens of stories.
_MOST_KEPT: Final = 4_000_000
_KINDS: Final = (Select, CompoundSelect, Insert, Update, Delete)


class Found:
    """What a statement found, all of it: what the store uses of SQLAlchemy's results."""

    def __init__(self, form: Form, told: list[tuple[Any, ...]], rowcount: int) -> None:
        self._form = form
        self._told = told
        self.rowcount = rowcount

    @cached_property
    def _rows(self) -> list[Any]:
        return self._form.rows(self._told)

    def each(self, of: Callable[[Any], T]) -> list[T]:
        """What a function makes of each row; see :func:`made`."""
        return self._form.made(of, self._told)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> list[Any]:
        """All rows."""
        return self._rows

    def first(self) -> Any:
        """The first row, or None."""
        return self._rows[0] if self._rows else None

    def one_or_none(self) -> Any:
        """The only row, or None. Raises MultipleResultsFound."""
        if len(self._rows) > 1:
            raise MultipleResultsFound("Multiple rows were found when one or none was required")
        return self.first()

    def one(self) -> Any:
        """The only row. Raises NoResultFound and MultipleResultsFound."""
        row = self.one_or_none()
        if row is None:
            raise NoResultFound("No row was found when one was required")
        return row

    def scalar_one(self) -> Any:
        """The first value of the only row. Raises NoResultFound and MultipleResultsFound."""
        return self.one()[0]

    def scalar_one_or_none(self) -> Any:
        """The first value of the only row, or None. Raises MultipleResultsFound."""
        row = self.one_or_none()
        return None if row is None else row[0]

    def scalar(self) -> Any:
        """The first value of the first row, or None."""
        return self._rows[0][0] if self._rows else None

    def scalars(self) -> Values:
        """The first value of each row."""
        return Values(row[0] for row in self._rows)


class Values(list[Any]):
    """The first value of each row that a statement found: what the store uses of SQLAlchemy's."""

    def all(self) -> list[Any]:
        """All of them."""
        return self


def made(found: CursorResult[Any] | Found, of: Callable[[Any], T]) -> list[T]:
    """What a function makes of each row; it must read nothing but the row, and what it makes must not change.

    A row that is as it was when it was read last is not made anew: a prompt reads a hundred turns of which one is new.
    """
    return found.each(of) if isinstance(found, Found) else [of(row) for row in found]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the value of one question mark comes from: a parameter, an item of a parameter's list, or nowhere: it is fixed."""

    name: str | None
    item: int | None
    process: Process | None
    fixed: Any


class Form:
    """A compiled statement, for parameters of given names, and lists of given lengths."""

    def __init__(self, words: str, places: Sequence[_Place], types: Sequence[Process | None], cache: _Cache) -> None:
        self.words = words
        self._places = places
        self._converted = tuple((place, process) for place, process in enumerate(types) if process is not None)
        self._make: Callable[[Any], Any] = tuple
        self._names: tuple[str, ...] = ()
        self._cache = cache

    def values(self, parameters: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values for the driver, in order."""
        found = []
        for place in self._places:
            if place.name is None:
                found.append(place.fixed)
                continue
            value = parameters[place.name]
            if place.item is not None:
                value = value[place.item]
            found.append(value if place.process is None else place.process(value))
        return tuple(found)

    def found(self, cursor: sqlite3.Cursor) -> Found:
        """What the driver found."""
        if cursor.description is None:
            return Found(self, [], cursor.rowcount)
        if self._make is tuple:
            self._names = tuple(column[0] for column in cursor.description)
            self._make = _named(self._names)
        return Found(self, cursor.fetchall(), cursor.rowcount)

    def rows(self, told: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Rows with the values of the domain, which have their names as attributes, as SQLAlchemy's rows do."""
        make, converted = self._make, self._converted
        rows = []
        for row in told:
            values: Any = row
            if converted:
                values = list(row)
                for place, process in converted:
                    values[place] = process(values[place])
            rows.append(make(values))
        return rows

    def made(self, of: Callable[[Any], T], told: Sequence[tuple[Any, ...]]) -> list[T]:
        """What a function makes of each row, or made of one with the same values."""
        known = self._cache.of(of, self._names)
        found: list[Any] = [known.get(row) for row in told]
        new = [row for row, one in zip(told, found, strict=True) if one is None]
        if not new:
            return found
        fresh = dict(zip(new, map(of, self.rows(new)), strict=True))
        if self._cache.makes_room_for(new):
            known.update(fresh)
        return [fresh[row] if one is None else one for row, one in zip(told, found, strict=True)]


class _Cache:
    """What was made of rows, by what made it and the rows' names: some megabytes of it."""

    def __init__(self) -> None:
        self._made: dict[tuple[Callable[[Any], Any], tuple[str, ...]], dict[tuple[Any, ...], Any]] = {}
        self._characters = 0

    def of(self, make: Callable[[Any], Any], names: tuple[str, ...]) -> dict[tuple[Any, ...], Any]:
        """What was made of rows with these names."""
        return self._made.setdefault((make, names), {})

    def makes_room_for(self, rows: Sequence[tuple[Any, ...]]) -> bool:
        """Whether rows are few enough to be kept; all others may have to go for them."""
        characters = sum(len(value) for row in rows for value in row if isinstance(value, str))
        if characters > _MOST_KEPT:
            return False
        if self._characters + characters > _MOST_KEPT:
            self.clear()
        self._characters += characters
        return True

    def clear(self) -> None:
        """Forget all."""
        for known in self._made.values():
            known.clear()
        self._characters = 0


def _named(names: Sequence[str]) -> Callable[[Any], Any]:
    kind = namedtuple("Row", names, rename=True)  # type: ignore[misc]
    kind._mapping = property(kind._asdict)  # type: ignore[attr-defined]
    return kind._make


@dataclass(slots=True)
class _Known:
    """A statement: how often it was executed, which of its parameters are lists, and its forms."""

    times: int = 0
    lists: tuple[str, ...] = ()
    forms: dict[tuple[Any, ...], Form | None] = field(default_factory=dict)


class Forms:
    """The compiled statements of a database."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: WeakKeyDictionary[Executable, _Known] = WeakKeyDictionary()
        self._cache = _Cache()

    def forget_rows(self) -> None:
        """Keep nothing of what was read."""
        self._cache.clear()

    def bound(self, statement: Executable, parameters: Mapping[str, Any]) -> tuple[Form, tuple[Any, ...]] | None:
        """The form of a statement that is executed often, and its values; None for others, for what only SQLAlchemy can execute,
        and for values that cannot be stored, of which SQLAlchemy says what is wrong with them.
        """
        try:
            form = self._of(statement, parameters)
            return None if form is None else (form, form.values(parameters))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, InvalidRequestError):
            return None

    def _of(self, statement: Executable, parameters: Mapping[str, Any]) -> Form | None:
        known = self._known.get(statement)
        if known is None:
            known = self._known[statement] = _Known()
        known.times += 1
        if known.times <= _OFTEN:
            return None
        key: tuple[Any, ...] = tuple(parameters)
        if known.lists:
            key += tuple(len(parameters[name]) for name in known.lists if name in parameters)
        try:
            return known.forms[key]
        except KeyError:
            return self._new(known, statement, parameters)

    def _new(self, known: _Known, statement: Executable, parameters: Mapping[str, Any]) -> Form | None:
        compiled = self._compiled(statement, parameters)
        form = None
        if compiled is not None:
            known.lists = tuple(sorted(bind.key for bind in compiled.post_compile_params))
            form = self._form(compiled, parameters)
        key = (*parameters, *(len(parameters[name]) for name in known.lists if name in parameters))
        known.forms[key] = form
        return form

    def _compiled(self, statement: Executable, parameters: Mapping[str, Any]) -> SQLCompiler | None:
        """None for what has defaults that only SQLAlchemy fills in, and for lists of pairs."""
        if not isinstance(statement, _KINDS):
            return None
        compiled = statement.compile(dialect=self._dialect, column_keys=list(parameters))
        if compiled.prefetch or compiled.literal_execute_params:
            return None
        return None if any(bind.type._is_tuple_type for bind in compiled.post_compile_params) else compiled

    def _form(self, compiled: SQLCompiler, parameters: Mapping[str, Any]) -> Form:
        state = compiled.construct_expanded_state(parameters)
        listed = {
            part: (name, item) for name, parts in state.parameter_expansion.items() for item, part in enumerate(parts)
        }
        places = []
        for part in state.positiontup or ():
            name, item = listed.get(part, (part, None))
            process = self._process_in(compiled.binds[name].type)
            if name in parameters:
                places.append(_Place(name, item, process, None))
            else:
                value = state.parameters[part]
                places.append(_Place(None, None, None, value if process is None else process(value)))
        columns = getattr(compiled.statement, "exported_columns", ())
        return Form(state.statement, places, [self._process_out(column.type) for column in columns], self._cache)

    def _process_in(self, kind: TypeEngine[Any]) -> Process | None:
        return kind.dialect_impl(self._dialect).bind_processor(self._dialect)

    def _process_out(self, kind: TypeEngine[Any]) -> Process | None:
        return kind.dialect_impl(self._dialect).result_processor(self._dialect, None)
