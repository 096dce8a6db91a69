"""Persons to test with: short ways to have something noted about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import count

from bot.memory.people import Judgement, JudgementKind, NewNote, NewTrait, Note, Portrait, Source, Trait
from bot.store import Store, TraitsWork
from tests.store.tale import MIO, Tale, later

_DAYS = count()


def showing(tale: Tale, *seqs: int) -> tuple[Source, ...]:
    """The first beat of each turn."""
    return tuple(Source(tale.session_id, seq, 1) for seq in seqs)


def note(tale: Tale, text: str, *seqs: int, at: datetime | None = None) -> NewNote:
    """A note that cites the first beat of each turn."""
    return NewNote(text, showing(tale, *seqs), at or later())


async def portrait(tale: Tale, player_id: int = MIO) -> Portrait:
    """All that the character of a story keeps about a person."""
    session = await tale.store.session(tale.session_id)
    assert session is not None
    known = await tale.store.portraits_of(player_id, None, everywhere=True)
    return next(p for p in known if p.acquaintance.character_id == session.character.id)


async def claimed(store: Store, kind: JudgementKind = JudgementKind.NOTES) -> Judgement:
    """The judgement of a kind that is due first, taken."""
    due = [judgement for judgement in await store.due_judgements(later(100_000)) if judgement.kind is kind]
    taken = await store.claim_judgement(due[0].id, later(100_000))
    assert taken is not None
    return taken


async def read(store: Store, judgement: Judgement) -> tuple[list[int], dict[int, int]]:
    """The exchanges that a judgement reads, and the revisions of their turns, by id."""
    work = await store.work_for_notes(judgement)
    revisions = {turn.id: turn.revision for exchange in work.exchanges for turn in exchange.turns}
    return [exchange.id for exchange in work.exchanges], revisions


async def morning(tale: Tale, guild_id: int | None = None) -> int | None:
    """Hold the next morning."""
    day = date(2026, 4, 2) + timedelta(days=next(_DAYS))
    return await tale.store.hold_morning(tale.channel_id if guild_id is None else guild_id, day, later(500))


async def noted(tale: Tale, *found: NewNote, player_id: int = MIO) -> tuple[Note, ...]:
    """Have all that waits judged, with these notes as the result, for a story with one person."""
    await morning(tale)
    judgement = await claimed(tale.store)
    exchange_ids, revisions = await read(tale.store, judgement)
    assert await tale.store.commit_notes(judgement.id, exchange_ids, revisions, found, later(501))
    return (await portrait(tale, player_id)).notes


async def with_traits(tale: Tale, *texts: str, player_id: int = MIO) -> tuple[Trait, ...]:
    """Have the person say so, and a trait made of each."""
    found = [note(tale, text, (await tale.player(text, by=player_id)).seq) for text in texts]
    await tale.reply()
    await noted(tale, *found, player_id=player_id)
    await judged_traits(tale, new=[NewTrait(new.text, new.sources) for new in found])
    return (await portrait(tale, player_id)).traits


async def judged_traits(
    tale: Tale, *, new: Sequence[NewTrait] = (), changed: Sequence[Trait] = (), at: datetime | None = None
) -> TraitsWork:
    """Have the notes judged for traits, with this result."""
    judgement = await claimed(tale.store, JudgementKind.TRAITS)
    work = await tale.store.work_for_traits(judgement)
    assert await tale.store.commit_traits(judgement.id, work, new, changed, [], at or later(502))
    return work
