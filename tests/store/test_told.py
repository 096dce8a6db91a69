"""Stories that were told before: the rows are those of the same turns played one by one."""

from __future__ import annotations

from typing import Any

from bot.memory.turns import Author, AuthorKind, Told, Turn
from bot.store import Store
from bot.store.tables import findable, messages, players, turns
from tests.store.tale import KAI, MIO, Tale, begin, later, never, over, rows, said


def as_told(turn: Turn, message_id: int) -> Told:
    return Told(turn.author, turn.raw, turn.beats, turn.tokens, turn.at, message_id)


async def _rows(tale: Tale) -> list[list[tuple[Any, ...]]]:
    """All that is written of a session's turns, ids apart."""
    apart = {"id", "session_id", "turn_id", "message_id", "channel_id", "author_id", "waits", "telling"}
    # What the model counted for a reply is not told.
    apart |= {"finish_reason", "prompt_tokens", "cached_tokens", "completion_tokens", "model", "at"}
    found = []
    for table in (turns, findable, players):
        mine = [row for row in await rows(tale.store, table) if row.session_id == tale.session_id]
        found.append([tuple(value for name, value in row._mapping.items() if name not in apart) for row in mine])
    return found


async def test_turns_told_at_once_are_as_if_they_were_played(tale: Tale) -> None:
    await tale.player("Hello there.")
    await tale.player("Me too.", by=KAI, name="Mio")
    await tale.reply("Come in.")
    await tale.player("((phone))")
    played = await tale.store.turns(tale.session_id, 1, 9)
    other = await begin(tale.store, channel_id=999)
    names = {MIO: "Mio", KAI: "Mio"}
    told = [
        as_told(turn, 5_000 + n) if not turn.author.is_player else Told(
            Author(AuthorKind.PLAYER, turn.author.id, names[turn.author.id]),
            turn.raw, said(turn.raw), turn.tokens, turn.at, 5_000 + n,
        )
        for n, turn in enumerate(played)
    ]  # fmt: skip

    added = await tale.store.add_told(other.session_id, told[:2], never())
    added += await tale.store.add_told(other.session_id, told[2:], never())

    assert [turn.seq for turn in added] == [1, 2, 3, 4]
    assert [turn.author.name for turn in added] == ["Mio", "Mio (2)", "Rin", "Mio"]
    assert await _rows(other) == await _rows(tale)
    carried = {row.message_id: row.turn_id for row in await rows(tale.store, messages) if row.channel_id == 999}
    assert carried == {5_000 + n: turn.id for n, turn in enumerate(added)}
    assert (await other.player("And then?")).seq == 5


async def test_a_fold_falls_due_by_them(store: Store) -> None:
    tale = await begin(store)
    told = Told(Author(AuthorKind.PLAYER, MIO, "Mio"), "Hello.", said("Hello."), 10, later(), 1)

    await store.add_told(tale.session_id, [told], over(10))
    assert await store.next_due() is None
    await store.add_told(tale.session_id, [told.__class__(told.author, "And?", said("And?"), 10, later(), 2)], over(10))

    assert await store.next_due() is not None
