from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import update

from bot.memory.fading import aged, taken_away
from bot.memory.people import FormerText, TraitStatus
from bot.memory.prompt import Card
from bot.memory.story import Head, Place, Scope
from bot.store import Store
from bot.store.people_tables import former_texts, notes, trait_sources, traits
from bot.store.tables import turns
from tests.store.persons import judged_traits, note, noted, portrait, showing, with_traits
from tests.store.tale import KAI, MIO, START, Tale, begin, later, render, rows


async def with_tail(tale: Tale) -> None:
    async with tale.store._database.write() as connection:
        await connection.execute(update(turns).where(turns.c.seq == 1).values(tail="[Mio: runs.]", tail_tokens=4))


async def has_tail(tale: Tale) -> bool:
    return (await tale.store.turns(tale.session_id, 1, 1))[0].tail != ""


async def test_an_edit_by_its_person_keeps_the_old_text(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    await with_tail(tale)
    once = replace(trait, text="Walks every morning.", importance=4, sources=())
    assert await tale.store.save_trait(once, by=str(MIO), at=later(600), former=True)
    assert not await has_tail(tale)
    twice = replace(once, text="Sleeps every morning.")
    assert await tale.store.save_trait(twice, by=str(MIO), at=later(601), former=True)
    unkept = replace(twice, text="Sleeps.")
    assert await tale.store.save_trait(unkept, by=str(MIO), at=later(602), former=False)

    known = await portrait(tale)
    assert known.traits == (unkept,)
    assert known.former == {
        trait.id: (
            FormerText("Runs every morning.", str(MIO), later(600)),
            FormerText("Walks every morning.", str(MIO), later(601)),
        )
    }


async def test_what_only_changed_in_weight_changes_no_prompt(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    await with_tail(tale)
    assert await tale.store.save_trait(replace(trait, importance=5), by=str(MIO), at=later(600), former=True)
    assert await has_tail(tale)
    assert await rows(tale.store, former_texts) == []
    assert (await portrait(tale)).traits == (replace(trait, importance=5),)

    assert await tale.store.save_trait(taken_away(trait, later(601)), by=str(MIO), at=later(601), former=True)
    assert not await has_tail(tale)
    assert not await tale.store.save_trait(replace(trait, id=99), by=str(MIO), at=later(602), former=True)


async def test_a_former_text_goes_with_the_turn_that_showed_it(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Applied to the academy.")
    await tale.player("I was accepted!")
    await tale.reply()
    await noted(tale, note(tale, "Was accepted.", 3))
    accepted = replace(trait, text="Was accepted.", sources=showing(tale, 1, 3))
    await judged_traits(tale, changed=[accepted])
    assert (await portrait(tale)).former != {}
    await tale.store.tie_messages(1, 1, [71])
    await tale.store.delete_turns([71], later(), render)

    known = await portrait(tale)
    assert known.traits == (replace(accepted, sources=showing(tale, 3)),)
    assert known.former == {}
    assert await rows(tale.store, former_texts) == []


async def test_what_its_person_wrote_does_not_depend_on_a_turn(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    own = replace(trait, text="Walks every morning.", sources=())
    await tale.store.save_trait(own, by=str(MIO), at=later(600), former=True)
    await tale.player("I walk every morning.")
    await tale.reply()
    await noted(tale, note(tale, "Walks.", 3))
    await judged_traits(tale, changed=[replace(own, importance=3, sources=showing(tale, 3))])
    for seq, message_id in ((1, 71), (3, 73)):
        (turn,) = await tale.store.turns(tale.session_id, seq, seq)
        await tale.store.tie_messages(turn.id, 1, [message_id])
    await tale.store.delete_turns([71, 73], later(), render)

    assert (await portrait(tale)).traits == (replace(own, importance=3),)
    assert await rows(tale.store, former_texts) == []
    assert await rows(tale.store, trait_sources) == []


async def test_a_note_is_removed_by_its_person_alone(tale: Tale) -> None:
    await with_traits(tale, "Runs every morning.")
    await with_tail(tale)
    (kept,) = (await portrait(tale)).notes
    assert not await tale.store.remove_note(KAI, kept.id)
    assert await has_tail(tale)
    assert await tale.store.remove_note(MIO, kept.id)
    assert not await tale.store.remove_note(MIO, kept.id)

    assert ((await portrait(tale)).notes, await has_tail(tale)) == ((), False)


async def test_only_a_dormant_trait_revives(tale: Tale) -> None:
    active, dormant, gone = await with_traits(tale, "Runs.", "Paints.", "Smokes.")
    asleep = replace(dormant, importance=0, dormant_at=later(600))
    away = taken_away(replace(gone, importance=0, dormant_at=later(600)), later(601))
    for trait in (asleep, away):
        await tale.store.save_trait(trait, by=str(MIO), at=later(601), former=False)
    await tale.store.revive([active.id, dormant.id, gone.id, 99], later(700))

    back = replace(dormant, importance=1, hazy=True, faded_at=later(700))
    assert (await portrait(tale)).traits == (active, back, away)


async def test_a_life_of_traits_in_the_rows(store: Store) -> None:
    tale, elsewhere = await begin(store), await begin(store, channel_id=200)
    runs, walks = await with_traits(tale, "Runs.", "Walks.")
    await with_traits(elsewhere, "Has another side.")
    await store.save_trait(replace(walks, text="Strolls."), by=str(MIO), at=later(600), former=True)
    began = runs.faded_at
    lived = []
    for day in range(0, 160, 5):
        counts = await store.age_traits([tale.channel_id], began + timedelta(days=day), aged)
        lived.append((day, [(t.importance, t.status.value) for t in (await portrait(tale)).traits], counts))

    assert [(day, left, counts) for day, left, counts in lived if counts] == [
        (30, [(1, "active")] * 2, {"faded": 2}),
        (60, [(0, "dormant")] * 2, {"dormant": 2, "notes": 2}),
        (120, [(0, "forgotten")] * 2, {"forgotten": 2}),
        (150, [], {"gone": 2}),
    ]
    for table in (former_texts, trait_sources):
        assert [row for row in await rows(store, table) if row.trait_id in (runs.id, walks.id)] == []
    (other,) = (await portrait(elsewhere)).traits
    assert (other.importance, other.status) == (2, TraitStatus.ACTIVE)


async def test_a_note_that_a_trait_stands_for_goes_after_a_week(tale: Tale) -> None:
    await tale.exchanges(1)
    await noted(tale, *(note(tale, text, 1, at=later(0)) for text in ("Absorbed.", "Judged.", "Neither.")))
    async with tale.store._database.write() as connection:
        for text, values in (("Absorbed.", {"judged": True, "absorbed": True}), ("Judged.", {"judged": True})):
            await connection.execute(update(notes).where(notes.c.text == text).values(values))

    left = []
    for days in (7, 8, 60, 61):
        await tale.store.age_traits([tale.channel_id], START + timedelta(days=days), aged)
        left.append([kept.text for kept in (await portrait(tale)).notes])
    assert left == [
        ["Absorbed.", "Judged.", "Neither."],
        ["Judged.", "Neither."],
        ["Judged.", "Neither."],
        ["Neither."],
    ]


async def test_many_persons_age_in_several_transactions(store: Store) -> None:
    character = await store.add_character(Scope(None, MIO), Card("Rin", "A keeper."), "", START)
    session, _ = await store.start_session(Place(None, 900), character.id, "en", None, Head("", 0), START)
    tale = Tale(store, session.id, 900)
    for player_id in range(1, 61):
        await tale.player(by=player_id, name=f"P{player_id}")
    await tale.reply()
    async with store._database.write() as connection:
        values = [
            {
                "acquaintance_id": number, "text": "Runs.", "importance": 2, "matches": 1, "first_at": START,
                "confirmed_at": START, "faded_at": START, "hazy": False, "deleted": False,
            }
            for number in range(1, 61)
        ]  # fmt: skip
        await connection.execute(traits.insert(), values)

    now = START + timedelta(days=30)
    assert await store.age_traits([100], now, aged) == {}
    assert await store.age_traits([0], now, aged) == {"faded": 60}
    assert await store.age_traits([0], now, aged) == {}
