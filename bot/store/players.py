"""What stands before a player's turns: a label that nobody else in the session ever had."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Table,
    and_,
    bindparam,
    insert,
    or_,
    select,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.memory.story import Session
from bot.store.people_tables import persona_labels
from bot.store.tables import players, sessions


def _row(table: Table, who: Column[int]) -> ColumnElement[bool]:
    of_session = table.c.session_id == bindparam("session")
    return and_(of_session, who == bindparam("who"), table.c.name == bindparam("called"))


def _others(strange: ColumnElement[bool]) -> CompoundSelect[Any]:
    """The labels of others in a session: of all other players, and of the personas who are ``strange``."""
    return union_all(
        select(players.c.label).where(
            players.c.session_id == bindparam("session"), players.c.player_id != bindparam("player")
        ),
        select(persona_labels.c.label).where(persona_labels.c.session_id == bindparam("session"), strange),
    )


_OF_OTHERS: Final = persona_labels.c.player_id != bindparam("player")
_ROWS: Final = {
    players: _row(players, players.c.player_id),
    persona_labels: _row(persona_labels, persona_labels.c.persona_id),
}
_LABELS: Final = {table.name: select(table.c.label).where(row) for table, row in _ROWS.items()}
_RENAME: Final = {table.name: update(table).where(row) for table, row in _ROWS.items()}
_LABELS_OF_OTHERS: Final = {
    players.name: _others(_OF_OTHERS),
    persona_labels.name: _others(or_(_OF_OTHERS, persona_labels.c.persona_id != bindparam("who"))),
}
_ADD: Final = {table.name: insert(table) for table in _ROWS}


async def label_of(
    connection: AsyncConnection, session: Session, player_id: int, name: str, persona_id: int | None = None
) -> str:
    """The label of a player, or of the persona they speak as, under its present name: the name itself, or with a number when
    it is another's.

    A former name of somebody else counts as theirs: it still stands before their older turns. A persona may bear its own
    player's name, but no other persona's. A character who joins takes its name from whoever had it. The session must be locked.
    """
    name = " ".join(name.split())
    values = {"session_id": session.id, "player_id": player_id, "name": name}
    table = players
    if persona_id is not None:
        table = persona_labels
        values["persona_id"] = persona_id
    own = {"session": session.id, "who": persona_id or player_id, "called": name}
    known = await connection.scalar(_LABELS[table.name], own)
    characters = {_key(session.character.card.name), *(_key(one.character.card.name) for one in session.others)}
    if known is not None and _key(known) not in characters:
        return str(known)
    place = {"session": session.id, "player": player_id}
    place |= {"who": persona_id} if persona_id is not None else {}
    others = await connection.scalars(_LABELS_OF_OTHERS[table.name], place)
    label = _free(name, characters | {_key(other) for other in others})
    if known is None:
        await connection.execute(_ADD[table.name], {**values, "label": label})
    else:
        await connection.execute(_RENAME[table.name], {**own, "label": label})
    return label


async def is_label(connection: AsyncConnection, character_id: int, name: str) -> bool:
    """Whether a name is a player's label in any session with a character."""
    of_character = select(sessions.c.id).where(sessions.c.character_id == character_id)
    both = union_all(
        *(select(table.c.label).where(table.c.session_id.in_(of_character)) for table in (players, persona_labels))
    )
    return _key(name) in set(map(_key, await connection.scalars(both)))


def _free(name: str, taken: set[str]) -> str:
    label, count = name, 1
    while _key(label) in taken:
        count += 1
        label = f"{name} ({count})"
    return label


def _key(name: str) -> str:
    """What is the same for the eye: width and case do not tell two names apart."""
    return unicodedata.normalize("NFKC", name).casefold()
