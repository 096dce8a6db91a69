from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date, timedelta

import pytest
from sqlalchemy import insert, select, update

from bot.memory.fading import aged, taken_away
from bot.memory.people import ExchangeState, JudgementKind, NewTrait, Source, TraitStatus
from bot.memory.story import FoldState, Place
from bot.memory.turns import Beat, BeatKind, Telling
from bot.store import Store
from bot.store.people_tables import (
    acquaintances,
    exchanges,
    forgettings,
    judgements,
    note_sources,
    notes,
    trait_sources,
    traits,
)
from bot.store.tables import turns
from tests.store.persons import claimed, judged_traits, note, noted, portrait, read, showing, with_traits
from tests.store.tale import KAI, MIO, Tale, begin, later, never, render, rows, said

OOC = (Beat(BeatKind.OOC, "brb", ""),)


async def written(tale: Tale) -> list[tuple[int, int, int, str]]:
    """The exchanges: whose, from where to where, and how they stand."""
    statement = (
        select(acquaintances.c.player_id, exchanges.c.first, exchanges.c.reply, exchanges.c.state)
        .join_from(exchanges, acquaintances)
        .order_by(exchanges.c.id)
    )
    return [(row.player_id, row.first, row.reply, row.state.value) for row in await rows(tale.store, statement)]


async def with_tail(tale: Tale) -> None:
    """Let the first turn of a story have a tail."""
    async with tale.store._database.write() as connection:
        first = turns.c.session_id == tale.session_id, turns.c.seq == 1
        await connection.execute(update(turns).where(*first).values(tail="[Mio: runs.]", tail_tokens=4))


async def tails(tale: Tale) -> list[str]:
    return [row.tail for row in await rows(tale.store, select(turns.c.tail).where(turns.c.tail.is_not(None)))]


async def test_in_a_scene_with_five_each_has_an_exchange_of_their_own(tale: Tale) -> None:
    await tale.player("Only Kai.", by=KAI, name="Kai")
    await tale.reply()
    for player_id in (5, 1, 3, 5, 2, 4):
        await tale.player(by=player_id, name=f"P{player_id}")
    await tale.reply()

    assert await written(tale) == [
        (KAI, 1, 2, "fresh"),
        (1, 4, 9, "fresh"),
        (2, 7, 9, "fresh"),
        (3, 5, 9, "fresh"),
        (4, 8, 9, "fresh"),
        (5, 3, 9, "fresh"),
    ]
    known = await rows(tale.store, acquaintances)
    assert {(row.player_id, row.name, row.remembered) for row in known} == {
        (KAI, "Kai", True),
        *((player_id, f"P{player_id}", True) for player_id in range(1, 6)),
    }


async def test_what_is_out_of_character_or_taken_back_is_no_exchange(tale: Tale) -> None:
    await tale.store.add_player_turn(tale.session_id, tale.message("((brb))"), OOC, 1, never())
    gone = tale.message("Forget it.")
    await tale.store.add_player_turn(tale.session_id, gone, said(gone.text), 1, never())
    await tale.player("Hello.", by=KAI, name="Kai")
    await tale.store.delete_turns([gone.message_id], later(), render)
    await tale.reply()

    assert await written(tale) == [(KAI, 3, 4, "fresh")]


async def test_what_arrives_while_a_reply_is_written_belongs_to_the_next(tale: Tale) -> None:
    await tale.player()
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.player("And another thing.")
    await tale.store.finish_reply(begun.turn.id, Telling("Yes.", said("Yes."), 1, "stop"), never())
    await tale.reply()

    assert await written(tale) == [(MIO, 1, 2, "fresh"), (MIO, 3, 4, "fresh")]


async def test_a_replayed_reply_writes_nothing(tale: Tale) -> None:
    await tale.player()
    reply = await tale.reply()
    with pytest.raises(LookupError, match="is not being written"):
        await tale.store.finish_reply(reply.id, Telling("Yes.", said("Yes."), 1, "stop"), never())

    assert await written(tale) == [(MIO, 1, 2, "fresh")]


async def test_a_person_is_known_by_the_name_used_last(tale: Tale) -> None:
    await tale.player(name="Mio")
    await tale.reply()
    await tale.player(name="Mio the Brave")
    await tale.reply()

    (known,) = await rows(tale.store, acquaintances)
    assert (known.player_id, known.name) == (MIO, "Mio the Brave")


async def test_the_eighth_exchange_plans_a_judgement(tale: Tale) -> None:
    await tale.exchanges(7)
    assert await rows(tale.store, judgements) == []
    await tale.exchanges(3)

    (planned,) = await tale.store.due_judgements(later(100))
    assert (planned.kind, planned.everything, planned.attempts) == (JudgementKind.NOTES, False, 0)
    assert planned.due_at == later(2)


async def test_many_replies_at_once_lose_no_exchange(store: Store) -> None:
    session = await begin(store)
    character = await store.session(session.session_id)
    assert character is not None
    tales = []
    for channel in range(200, 208):
        place = Place(session.channel_id, channel)
        started, _ = await store.start_session(
            place, character.character.id, "en", None, render(await store.memory(1)), later()
        )
        tales.append(Tale(store, started.id, channel))
        await tales[-1].player()
    await asyncio.gather(*(tale.reply() for tale in tales))

    assert len(await rows(store, acquaintances)) == 1
    assert len(await rows(store, exchanges)) == 8
    assert len(await rows(store, judgements)) == 1


async def test_a_reply_that_is_told_anew_takes_the_exchange_over(tale: Tale) -> None:
    await tale.player()
    lost = await tale.reply(deliver=False)
    await tale.store.fail_reply(lost.id)
    await tale.player("Are you there?")
    await tale.reply()

    assert await written(tale) == [(MIO, 1, 4, "fresh")]


async def test_what_was_judged_is_not_judged_again_with_a_reply_told_anew(tale: Tale) -> None:
    await tale.player("I run every morning.")
    reply = await tale.reply(deliver=False)
    await tale.store.tie_messages(reply.id, 1, [71])
    await noted(tale, note(tale, "Runs every morning.", 1))
    await tale.store.delete_turns([71], later(), render)
    await tale.reply()
    assert await written(tale) == [(MIO, 1, 2, "judged")]

    await tale.player("I swim too.")
    await tale.reply()
    assert await written(tale) == [(MIO, 1, 2, "judged"), (MIO, 4, 5, "fresh")]


@pytest.mark.parametrize("how", ["stranger", "told", "forgotten"])
async def test_of_whom_nothing_may_be_kept_there_is_no_exchange(tale: Tale, how: str) -> None:
    await tale.player()
    await tale.reply()
    known = (await portrait(tale)).acquaintance
    if how == "stranger":
        await tale.store.set_stranger(MIO, True, later())
    elif how == "told":
        assert await tale.store.set_remembered(known.id, MIO, False, later())
    else:
        async with tale.store._database.write() as connection:
            await connection.execute(insert(forgettings).values(player_id=MIO, asked_at=later()))
            await connection.execute(exchanges.delete())
    await tale.player("Do not write this down.")
    await tale.player("You may.", by=KAI, name="Kai")
    await tale.reply()

    assert await written(tale) == [(KAI, 4, 5, "fresh")]
    assert await tale.store.portraits(tale.session_id, [MIO], since=later(-1000)) == ()


async def test_being_remembered_again_begins_anew(tale: Tale) -> None:
    await tale.store.set_stranger(MIO, True, later())
    await tale.store.set_stranger(MIO, True, later(2))
    assert await tale.store.is_stranger(MIO)
    await tale.player()
    await tale.reply()
    assert await written(tale) == []

    await tale.store.set_stranger(MIO, False, later(3))
    assert not await tale.store.is_stranger(MIO)
    await tale.player()
    await tale.reply()
    assert await written(tale) == [(MIO, 3, 4, "fresh")]


async def test_switching_off_leaves_only_what_can_be_restored(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    await tale.exchanges(9)
    await with_tail(tale)
    judgement = await claimed(tale.store)
    exchange_ids, revisions = await read(tale.store, judgement)
    known = await portrait(tale)
    assert (len(known.notes), known.waiting) == (1, 9)
    assert not await tale.store.set_remembered(known.acquaintance.id, KAI, False, later(600))
    assert await portrait(tale) == known

    assert await tale.store.set_remembered(known.acquaintance.id, MIO, False, later(600))
    gone = await portrait(tale)
    assert not gone.acquaintance.remembered
    assert (gone.notes, gone.waiting) == ((), 0)
    assert [(t.id, t.status, t.forgotten_at, t.deleted) for t in gone.traits] == [
        (trait.id, TraitStatus.FORGOTTEN, later(600), False)
    ]
    assert await tails(tale) == []
    assert await tale.store.due_judgements(later(100_000)) == ()
    assert not await tale.store.commit_notes(judgement.id, exchange_ids, revisions, [], later(601))
    assert await rows(tale.store, note_sources) == []

    await tale.store.set_remembered(known.acquaintance.id, MIO, True, later(700))
    assert (await portrait(tale)).acquaintance == known.acquaintance


async def test_switching_off_everywhere_reaches_every_character(store: Store) -> None:
    tales = [await begin(store, channel_id=channel) for channel in (200, 201)]
    for tale in tales:
        await with_traits(tale, "Runs every morning.")
    await with_traits(tales[0], "Plays the flute.", player_id=KAI)
    await store.set_stranger(MIO, True, later(600))

    for tale in tales:
        known = await portrait(tale)
        assert known.acquaintance.remembered
        assert (known.notes, [t.status for t in known.traits]) == ((), [TraitStatus.FORGOTTEN])
    others = await portrait(tales[0], KAI)
    assert (len(others.notes), [t.status for t in others.traits]) == (1, [TraitStatus.ACTIVE])


async def test_a_prompt_gets_what_its_character_keeps_of_those_present(store: Store) -> None:
    here, elsewhere = await begin(store), await begin(store, channel_id=200)
    await with_traits(elsewhere, "Has another side.")
    active, dormant, forgotten = await with_traits(here, "Runs.", "Paints.", "Smoked.")
    await with_traits(here, "Plays the flute.", player_id=KAI)
    async with store._database.write() as connection:
        aged = update(traits).where(traits.c.id.in_([dormant.id, forgotten.id])).values(dormant_at=later())
        await connection.execute(aged)
        gone = update(traits).where(traits.c.id == forgotten.id).values(forgotten_at=later())
        await connection.execute(gone)
        absorbed = update(notes).where(notes.c.text == "Runs.").values(absorbed=True)
        await connection.execute(absorbed)
        old = update(notes).where(notes.c.text == "Paints.").values(at=later(-1))
        await connection.execute(old)

    found = await store.portraits(here.session_id, [KAI, 7, MIO, KAI], since=later(0))
    assert [p.acquaintance.player_id for p in found] == [KAI, MIO]
    assert [t.text for t in found[0].traits] == ["Plays the flute."]
    assert [(t.text, t.status) for t in found[1].traits] == [
        ("Runs.", TraitStatus.ACTIVE),
        ("Paints.", TraitStatus.DORMANT),
    ]
    assert [n.text for n in found[1].notes] == ["Smoked."]
    assert found[1].traits[0] == active
    assert [p.acquaintance.player_id for p in await store.portraits(here.session_id, [MIO], since=later())] == [MIO]


async def test_a_person_reads_their_own_in_a_guild_or_everywhere(store: Store) -> None:
    here, elsewhere = await begin(store), await begin(store, channel_id=200)
    for tale in (here, elsewhere):
        await tale.exchanges(2)

    (found,) = await store.portraits_of(MIO, here.channel_id)
    assert (found.acquaintance.guild_id, found.acquaintance.character_name, found.waiting) == (100, "Rin", 2)
    assert await store.portraits_of(MIO, None) == ()
    assert await store.portraits_of(KAI, here.channel_id) == ()
    assert [p.acquaintance.guild_id for p in await store.portraits_of(MIO, None, everywhere=True)] == [100, 200]
    assert await store.acquaintance(found.acquaintance.id) == found.acquaintance
    assert await store.acquaintance(99) is None


async def test_a_trait_or_note_is_found_for_its_person_alone(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    known = await portrait(tale)
    assert await tale.store.trait_of(MIO, trait.id) == (known.acquaintance, trait)
    assert await tale.store.note_of(MIO, known.notes[0].id) == (known.acquaintance, known.notes[0])
    assert await tale.store.trait_of(KAI, trait.id) is None
    assert await tale.store.note_of(KAI, known.notes[0].id) is None
    assert await tale.store.trait_of(MIO, 99) is None


async def test_sources_lead_to_the_messages_that_are_still_there(tale: Tale) -> None:
    first, gone = tale.message("One."), tale.message("Two.")
    for message in (first, gone):
        await tale.store.add_player_turn(tale.session_id, message, said(message.text), 1, never())
    await tale.reply(deliver=False)
    await tale.store.tie_messages(3, 300, [8_002, 8_001])
    await tale.store.delete_turns([gone.message_id], later(), render)
    sources = [Source(tale.session_id, seq, beat) for seq, beat in ((1, 1), (1, 2), (2, 1), (3, 1), (9, 1))]

    assert await tale.store.turn_links(sources) == {
        sources[0]: (100, first.message_id, 100),
        sources[1]: (100, first.message_id, 100),
        sources[3]: (300, 8_001, 100),
    }
    assert await tale.store.turn_links([]) == {}


async def test_what_is_known_goes_with_the_turn_that_showed_it(tale: Tale) -> None:
    message = tale.message("I run every morning.")
    await tale.store.add_player_turn(tale.session_id, message, said(message.text), 9, never())
    await tale.reply()
    await tale.exchanges(1)
    await noted(tale, note(tale, "Runs and asks.", 1, 3), note(tale, "Asks.", 3))
    await with_tail(tale)
    await tale.store.delete_turns([message.message_id], later(), render)

    known = await portrait(tale)
    assert [n.text for n in known.notes] == ["Asks."]
    assert await tails(tale) == []
    # Nothing is left of the first exchange; what the lost note showed of the second is looked at again.
    assert await written(tale) == [(MIO, 3, 4, "fresh")]


async def test_a_trait_goes_with_the_last_turn_that_showed_it(tale: Tale) -> None:
    said_first = tale.message("I run every morning.")
    await tale.store.add_player_turn(tale.session_id, said_first, said(said_first.text), 9, never())
    await tale.reply()
    said_again = tale.message("I still run every morning.")
    await tale.store.add_player_turn(tale.session_id, said_again, said(said_again.text), 9, never())
    await tale.reply()
    await noted(tale, note(tale, "Runs every morning.", 1), note(tale, "Still runs.", 3))
    await judged_traits(tale, new=[NewTrait("Runs every morning.", showing(tale, 1, 3))])

    await tale.store.delete_turns([said_first.message_id], later(), render)
    known = await portrait(tale)
    assert [(t.text, t.sources) for t in known.traits] == [("Runs every morning.", showing(tale, 3))]
    assert [n.text for n in known.notes] == ["Still runs."]
    await with_tail(tale)
    await tale.store.delete_turns([said_again.message_id], later(), render)
    known = await portrait(tale)
    assert (known.traits, known.notes, await tails(tale)) == ((), (), [])
    assert await rows(tale.store, trait_sources) == []


async def test_an_edit_lets_the_exchange_be_judged_again(tale: Tale) -> None:
    turn = await tale.player("I run every morning.")
    await tale.player("So do I.", by=KAI, name="Kai")
    await tale.reply()
    await tale.store.hold_morning(tale.channel_id, date(2030, 1, 1), later())
    for _ in range(2):
        judgement = await claimed(tale.store)
        exchange_ids, revisions = await read(tale.store, judgement)
        assert await tale.store.commit_notes(judgement.id, exchange_ids, revisions, [], later())
    assert [state for *_, state in await written(tale)] == ["judged", "judged"]
    await tale.store.edit_turn(turn.id, "I swim.", said("I swim."), 3, later(), render)
    assert await written(tale) == [(MIO, 1, 3, "fresh"), (KAI, 2, 3, "judged")]

    await tale.store.edit_turn(turn.id, "((brb))", OOC, 3, later(), render)
    assert await written(tale) == [(KAI, 2, 3, "judged")]


async def test_an_edit_brings_nothing_back_of_whom_nothing_may_be_kept(tale: Tale) -> None:
    turn = await tale.player("I run every morning.")
    await tale.reply()
    await noted(tale, note(tale, "Runs every morning.", 1))
    await tale.store.set_stranger(MIO, True, later())
    await tale.store.edit_turn(turn.id, "I swim.", said("I swim."), 3, later(), render)

    assert await written(tale) == [(MIO, 1, 2, ExchangeState.JUDGED.value)]
    cancelled = [row for row in await rows(tale.store, judgements) if row.error == "not-remembered"]
    assert [(row.kind, row.state) for row in cancelled] == [(JudgementKind.TRAITS, FoldState.DONE)]


async def edited(tale: Tale, seq: int, text: str) -> None:
    """Give a turn another text."""
    (turn,) = await tale.store.turns(tale.session_id, seq, seq)
    await tale.store.edit_turn(turn.id, text, said(text), 9, later(900), render)


async def deleted(tale: Tale, *seqs: int) -> None:
    """Delete the messages of turns."""
    for seq in seqs:
        (turn,) = await tale.store.turns(tale.session_id, seq, seq)
        await tale.store.tie_messages(turn.id, 1, [9_000 + seq])
    await tale.store.delete_turns([9_000 + seq for seq in seqs], later(900), render)


async def test_an_edit_keeps_the_mark_of_a_trait_that_was_taken_away(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs evry morning.")
    away = taken_away(trait, later(600))
    assert await tale.store.save_trait(away, by=str(MIO), at=later(600), former=False)
    await edited(tale, 1, "Runs every morning.")
    assert (await portrait(tale)).traits == (away,)

    await deleted(tale, 1)
    assert (await portrait(tale)).traits == ()
    assert await rows(tale.store, trait_sources) == []


@pytest.mark.parametrize("seq", [1, 2])
async def test_an_edit_brings_no_deleted_note_back(tale: Tale, seq: int) -> None:
    for text in ("I run every morning.", "Nice wether."):
        await tale.player(text)
    await tale.reply()
    (runs, _) = await noted(tale, note(tale, "Runs every morning.", 1), note(tale, "Looks at the sky.", 2))
    assert await tale.store.remove_note(MIO, runs.id)
    assert [n.text for n in (await portrait(tale)).notes] == ["Looks at the sky."]
    assert await tale.store.note_of(MIO, runs.id) is None
    assert not await tale.store.remove_note(MIO, runs.id)
    assert "Runs every morning." not in [row.text for row in await rows(tale.store, notes)]

    await edited(tale, seq, "Otherwise.")
    assert [state for *_, state in await written(tale)] == ["fresh"]
    await noted(
        tale,
        note(tale, "Goes running every morning.", 1),
        note(tale, "Runs under a clear sky.", 1, 2),
        note(tale, "Likes the weather.", 2),
    )
    texts = [n.text for n in (await portrait(tale)).notes]
    assert "Goes running every morning." not in texts
    assert {"Runs under a clear sky.", "Likes the weather."} <= set(texts)

    await deleted(tale, 1)
    assert [n.text for n in (await portrait(tale)).notes if "Runs" in n.text] == []
    assert not [row for row in await rows(tale.store, notes) if row.removed]


async def test_a_deleted_note_stands_for_what_is_left_of_its_turns(tale: Tale) -> None:
    for text in ("I run.", "Every morning."):
        await tale.player(text)
    await tale.reply()
    (runs,) = await noted(tale, note(tale, "Runs every morning.", 1, 2))
    await tale.store.remove_note(MIO, runs.id)
    await deleted(tale, 1)
    await edited(tale, 2, "Each morning.")
    await noted(tale, note(tale, "Runs each morning.", 2))
    assert (await portrait(tale)).notes == ()

    await deleted(tale, 2)
    assert await rows(tale.store, notes) == await rows(tale.store, note_sources) == []


async def test_a_deleted_note_is_judged_no_more_and_its_mark_goes_when_the_note_would(tale: Tale) -> None:
    await tale.exchanges(1)
    (asks,) = await noted(tale, note(tale, "Asks.", 1))
    await tale.store.remove_note(MIO, asks.id)
    assert (await judged_traits(tale)).notes == ()
    guild = [tale.channel_id]
    await tale.store.age_traits(guild, asks.at + timedelta(days=59), aged)
    assert [row.removed for row in await rows(tale.store, notes)] == [True]
    await tale.store.age_traits(guild, asks.at + timedelta(days=61), aged)
    assert await rows(tale.store, notes) == []
    assert await rows(tale.store, note_sources) == []


@pytest.mark.parametrize(
    ("before", "gone", "after"),
    [
        ((5, 7), (1,), (4, 6)),
        ((5, 7), (1, 3), (3, 5)),
        ((1, 1), (1,), (1, 1)),
        ((0, 4), (1,), (0, 3)),
    ],
)
async def test_what_a_lost_turn_counted_is_taken_back(
    tale: Tale, before: tuple[int, int], gone: tuple[int, ...], after: tuple[int, int]
) -> None:
    for _ in range(3):
        await tale.player("I run every morning.")
        await tale.reply()
    await noted(tale, *(note(tale, f"Runs {seq}.", seq) for seq in (1, 3, 5)))
    await judged_traits(tale, new=[NewTrait("Runs every morning.", showing(tale, 1, 3, 5))])
    (trait,) = (await portrait(tale)).traits
    held = replace(trait, importance=before[0], matches=before[1], dormant_at=None if before[0] else later())
    assert await tale.store.save_trait(held, by=str(MIO), at=later(600), former=False)
    if len(gone) == 1:
        await edited(tale, *gone, "I run every morning!")
    else:
        await deleted(tale, *gone)

    (now,) = (await portrait(tale)).traits
    assert (now.importance, now.matches) == after


async def test_without_people_nobody_gets_known(tale: Tale) -> None:
    await tale.player("I run.")
    begun = await tale.store.begin_reply(tale.session_id, later())
    assert begun is not None
    await tale.store.finish_reply(begun.turn.id, Telling("Yes.", said("Yes."), 1, "stop"), never(), people=False)

    assert await rows(tale.store, acquaintances) == await rows(tale.store, exchanges) == []
