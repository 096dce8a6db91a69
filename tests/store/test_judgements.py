from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date

import pytest
from sqlalchemy import delete, insert, select, update

from bot.memory.moderation import GuildSettings
from bot.memory.people import ExchangeState, Judgement, JudgementKind, NewTrait, TraitStatus
from bot.memory.prompt import Card
from bot.memory.story import FoldState, Head, Place, Scope
from bot.store import Store
from bot.store.people_tables import acquaintances, exchanges, forgettings, judgements, notes
from bot.store.tables import turns
from tests.store.persons import claimed, judged_traits, morning, note, noted, portrait, read, showing, with_traits
from tests.store.tale import KAI, MIO, START, Tale, begin, later, render, rows, said


async def states(store: Store) -> list[str]:
    statement = select(exchanges.c.state).order_by(exchanges.c.id)
    return [row.state.value for row in await rows(store, statement)]


async def open_judgements(store: Store) -> list[tuple[JudgementKind, bool]]:
    return [(judgement.kind, judgement.everything) for judgement in await store.due_judgements(later(100_000))]


async def test_a_due_judgement_is_claimed_by_one(tale: Tale) -> None:
    await tale.exchanges(8)
    assert await tale.store.due_judgements(later(1)) == ()
    (due,) = await tale.store.due_judgements(later(2))
    claims = await asyncio.gather(*(tale.store.claim_judgement(due.id, later(3)) for _ in range(10)))

    (taken,) = [claim for claim in claims if claim is not None]
    assert taken == replace(due, state=FoldState.RUNNING, attempts=1)
    assert await tale.store.due_judgements(later(100_000)) == ()


async def test_of_eight_the_oldest_four_are_judged(tale: Tale) -> None:
    await tale.exchanges(8)
    judgement = await claimed(tale.store)
    await tale.exchanges(1)
    assert await open_judgements(tale.store) == []
    work = await tale.store.work_for_notes(judgement)
    assert (work.acquaintance.player_id, work.known) == (MIO, ())
    assert [(e.session_id, e.first, e.reply) for e in work.exchanges] == [(1, 1, 2), (1, 3, 4), (1, 5, 6), (1, 7, 8)]
    assert [turn.raw for turn in work.exchanges[0].turns] == ["Question 1.", "Answer 1."]
    found = note(tale, "Asks a lot.", 1, 3, at=later(7))
    exchange_ids, revisions = await read(tale.store, judgement)
    assert await tale.store.commit_notes(judgement.id, exchange_ids, revisions, [found], later(9))

    assert await states(tale.store) == ["judged"] * 4 + ["fresh"] * 5
    (kept,) = (await portrait(tale)).notes
    assert (kept.text, kept.at, kept.sources, kept.judged, kept.absorbed) == (
        "Asks a lot.", later(7), showing(tale, 1, 3), False, False,
    )  # fmt: skip
    (done, next_) = await rows(tale.store, judgements)
    assert (done.state, done.finished_at) == (FoldState.DONE, later(9))
    assert (next_.kind, next_.state, next_.due_at) == (JudgementKind.TRAITS, FoldState.DUE, later(9))


async def test_committing_twice_is_committing_once(tale: Tale) -> None:
    await tale.exchanges(8)
    judgement = await claimed(tale.store)
    exchange_ids, revisions = await read(tale.store, judgement)
    found = [note(tale, "Asks a lot.", 1)]
    commits = await asyncio.gather(
        *(tale.store.commit_notes(judgement.id, exchange_ids, revisions, found, later(9)) for _ in range(3))
    )

    assert sorted(commits) == [False, False, True]
    assert len((await portrait(tale)).notes) == 1
    assert await open_judgements(tale.store) == [(JudgementKind.TRAITS, False)]
    await tale.store.fail_judgement(judgement.id, "refusal", retry_at=None, now=later(10))
    assert await states(tale.store) == ["judged"] * 4 + ["fresh"] * 4


@pytest.mark.parametrize("what", ["edit", "deletion", "reply", "forgotten", "other's"])
async def test_nothing_is_committed_that_was_read_otherwise(tale: Tale, what: str) -> None:
    await tale.exchanges(8)
    judgement = await claimed(tale.store)
    exchange_ids, revisions = await read(tale.store, judgement)
    (first, reply) = await tale.store.turns(tale.session_id, 1, 2)
    if what == "edit":
        await tale.store.edit_turn(first.id, "Otherwise.", said("Otherwise."), 3, later(), render)
    elif what == "deletion":
        await tale.store.tie_messages(first.id, 1, [71])
        await tale.store.delete_turns([71], later(), render)
    elif what == "reply":
        await tale.store.edit_turn(reply.id, "No.", said("No."), 3, later(), render)
    elif what == "forgotten":
        async with tale.store._database.write() as connection:
            await connection.execute(insert(forgettings).values(player_id=MIO, asked_at=later()))
    else:
        await tale.player("Hello.", by=KAI, name="Kai")
        await tale.reply()
        (*_, last) = await rows(tale.store, exchanges)
        exchange_ids = [*exchange_ids, last.id]
        revisions |= await tale_revisions(tale, last.first, last.reply)
    found = [note(tale, "Asks a lot.", 1)]
    assert not await tale.store.commit_notes(judgement.id, exchange_ids, revisions, found, later(9))
    assert not await tale.store.commit_notes(judgement.id, [99], {}, found, later(9))

    assert await rows(tale.store, notes) == []
    assert "judged" not in await states(tale.store)
    (row,) = await rows(tale.store, select(judgements).where(judgements.c.id == judgement.id))
    assert row.state is FoldState.RUNNING


async def tale_revisions(tale: Tale, first: int, last: int) -> dict[int, int]:
    return {turn.id: turn.revision for turn in await tale.store.turns(tale.session_id, first, last)}


async def test_a_crash_between_claim_and_commit_loses_nothing_and_judges_nothing_twice(url: str) -> None:
    async with await Store.open(url) as store:
        tale = await begin(store)
        await tale.exchanges(8)
        judgement = await claimed(store)
        exchange_ids, revisions = await read(store, judgement)

    async with await Store.open(url) as store:
        assert not await store.commit_notes(99, exchange_ids, revisions, [], later(9))
        assert await store.recover_judgements() == 1
        assert await store.recover_judgements() == 0
        # The lost run's result comes too late: the judgement is due, and runs for another.
        assert not await store.commit_notes(judgement.id, exchange_ids, revisions, [], later(9))
        again = await claimed(store)
        assert (again.id, again.attempts) == (judgement.id, 2)
        assert (exchange_ids, revisions) == await read(store, again)
        assert await store.commit_notes(again.id, exchange_ids, revisions, [], later(9))
        assert await store.recover_judgements() == 0
        assert await states(store) == ["judged"] * 4 + ["fresh"] * 4
        assert await open_judgements(store) == []


async def test_while_enough_waits_the_next_four_follow(tale: Tale) -> None:
    await tale.exchanges(13)
    for left in (9, 5):
        judgement = await claimed(tale.store)
        exchange_ids, revisions = await read(tale.store, judgement)
        assert await tale.store.commit_notes(judgement.id, exchange_ids, revisions, [], later(9))
        assert (await states(tale.store)).count("fresh") == left
    assert await open_judgements(tale.store) == []


async def test_what_was_noted_the_day_before_is_known_to_the_judge(tale: Tale) -> None:
    await tale.exchanges(1)
    await noted(tale, note(tale, "Now.", 1), note(tale, "Yesterday.", 1, at=later(-1439)), note(tale, "Long ago.", 1))
    async with tale.store._database.write() as connection:
        old = notes.update().where(notes.c.text == "Long ago.").values(at=later(-1440))
        await connection.execute(old)
    await tale.exchanges(1)
    await morning(tale)
    assert (await tale.store.work_for_notes(await claimed(tale.store))).known == ("Yesterday.", "Now.")


async def test_a_judge_who_fails_for_good_is_not_asked_about_the_same_again(tale: Tale) -> None:
    await tale.exchanges(9)
    judgement = await claimed(tale.store)
    await tale.store.fail_judgement(judgement.id, "refusal", retry_at=later(20), now=later(9))
    (due,) = await tale.store.due_judgements(later(20))
    assert (due.id, due.attempts, due.failures, due.error) == (judgement.id, 1, 1, "refusal")
    assert await states(tale.store) == ["fresh"] * 9
    again = await claimed(tale.store)
    shown, _ = await read(tale.store, again)
    await tale.store.fail_judgement(again.id, "cut-short", retry_at=None, now=later(30), read=shown)

    assert await states(tale.store) == ["dropped"] * 4 + ["fresh"] * 5
    (row,) = await rows(tale.store, judgements)
    assert (row.state, row.error, row.finished_at) == (FoldState.FAILED, "cut-short", later(30))
    await tale.exchanges(3)
    assert await open_judgements(tale.store) == [(JudgementKind.NOTES, False)]


async def test_notes_whose_judge_failed_for_good_stay_notes(tale: Tale) -> None:
    await tale.exchanges(1)
    await noted(tale, note(tale, "Asks.", 1))
    judgement = await claimed(tale.store, JudgementKind.TRAITS)
    shown = [note.id for note in (await tale.store.work_for_traits(judgement)).notes]
    await tale.exchanges(1)
    await noted(tale, note(tale, "Answers.", 3))
    await tale.store.fail_judgement(judgement.id, "refusal", retry_at=None, now=later(600), read=shown)

    kept = [(n.text, n.judged, n.absorbed) for n in (await portrait(tale)).notes]
    assert kept == [("Asks.", True, False), ("Answers.", False, False)]
    assert await open_judgements(tale.store) == [(JudgementKind.TRAITS, False)]
    assert [n.text for n in (await judged_traits(tale)).notes] == ["Answers."]


async def test_what_a_failing_judge_was_not_shown_waits_on(tale: Tale) -> None:
    await tale.exchanges(8)
    judgement = await claimed(tale.store)
    shown, _ = await read(tale.store, judgement)
    messages = [71, 73]
    for seq, message_id in zip((1, 3), messages, strict=True):
        (turn,) = await tale.store.turns(tale.session_id, seq, seq)
        await tale.store.tie_messages(turn.id, 1, [message_id])
    await tale.store.delete_turns(messages, later(5), render)
    await tale.store.fail_judgement(judgement.id, "refusal", retry_at=None, now=later(9), read=shown)

    assert await states(tale.store) == ["dropped"] * 2 + ["fresh"] * 4


async def test_a_judgement_that_fails_before_anything_was_shown_closes_nothing_and_is_not_planned_on_and_on(
    tale: Tale,
) -> None:
    await tale.exchanges(9)
    judgement = await claimed(tale.store)
    await tale.store.fail_judgement(judgement.id, "broken", retry_at=None, now=later(9))

    assert await states(tale.store) == ["fresh"] * 9
    assert await open_judgements(tale.store) == []
    await tale.exchanges(1)
    assert await open_judgements(tale.store) == [(JudgementKind.NOTES, False)]


async def test_tries_in_which_the_judge_was_away_or_the_process_ended_are_no_failures(tale: Tale) -> None:
    await tale.exchanges(8)
    for _ in range(2):
        judgement = await claimed(tale.store)
        await tale.store.fail_judgement(judgement.id, "down", retry_at=later(20), now=later(9), heard=False)
        await claimed(tale.store)
        await tale.store.recover_judgements()

    (due,) = await tale.store.due_judgements(later(20))
    assert (due.attempts, due.failures) == (4, 0)


async def test_what_changed_is_dropped_only_from_the_stories_that_repeat_it(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Applied for a 100% course.")
    session = await tale.store.session(tale.session_id)
    assert session is not None
    other = Tale(
        tale.store,
        (await tale.store.start_session(Place(100, 300), session.character.id, "en", None, Head("", 0), START))[0].id,
        300,
    )
    await other.player("I am alone here.", by=KAI, name="Kai")
    told = {tale.session_id: "- Mio: Applied for a 100% course.", other.session_id: "- Kai: Applied for a 1000 course."}
    async with tale.store._database.write() as connection:
        for session_id, tail in told.items():
            first = turns.c.session_id == session_id, turns.c.seq == 1
            await connection.execute(update(turns).where(*first).values(tail=tail, tail_tokens=3))
    await tale.player("I was accepted.")
    await tale.reply()
    await noted(tale, note(tale, "Was accepted.", 3))
    await judged_traits(tale, changed=[replace(trait, text="Was accepted for a course.")])

    tails = {row.session_id: row.tail for row in await rows(tale.store, turns) if row.seq == 1}
    assert tails == {tale.session_id: None, other.session_id: told[other.session_id]}


async def test_a_morning_without_a_judge_plans_nothing(tale: Tale) -> None:
    await tale.exchanges(3)
    assert await tale.store.hold_morning(100, date(2026, 4, 2), later(500), judge=False) == 0
    assert await tale.store.hold_morning(100, date(2026, 4, 2), later(500)) is None
    assert await open_judgements(tale.store) == []
    assert await tale.store.hold_morning(100, date(2026, 4, 3), later(501)) == 1


async def test_what_becomes_of_notes(tale: Tale) -> None:
    (old,) = await with_traits(tale, "Applied to the academy.")
    await tale.player("I was accepted!")
    await tale.reply()
    await noted(tale, note(tale, "Was accepted.", 3), note(tale, "Swims.", 3))
    judgement = await claimed(tale.store, JudgementKind.TRAITS)
    work = await tale.store.work_for_traits(judgement)
    assert ([n.text for n in work.notes], work.traits) == (["Was accepted.", "Swims."], (old,))
    new = NewTrait("Swims.", showing(tale, 3), (work.notes[1].id,), date(2026, 5, 1))
    changed = replace(old, text="Was accepted to the academy.", matches=2, sources=(*old.sources, *showing(tale, 3)))
    absorbed = [work.notes[0].id]
    assert await tale.store.commit_traits(judgement.id, work, [new], [changed], absorbed, later(700))
    assert not await tale.store.commit_traits(judgement.id, work, [new], [changed], absorbed, later(701))

    known = await portrait(tale)
    accepted, swims = known.traits
    assert (accepted.text, accepted.matches, accepted.sources) == (changed.text, 2, showing(tale, 3))
    assert known.former is not None
    (former,) = known.former[old.id]
    assert (former.text, former.by, former.until) == ("Applied to the academy.", "judge", later(700))
    assert (swims.text, swims.until, swims.importance, swims.matches) == ("Swims.", date(2026, 5, 1), 2, 1)
    assert {swims.first_at, swims.confirmed_at, swims.faded_at} == {later(700)}
    assert (swims.status, swims.hazy, swims.sources) == (TraitStatus.ACTIVE, False, showing(tale, 3))
    assert [(n.text, n.judged, n.absorbed) for n in known.notes[-2:]] == [
        ("Was accepted.", True, True),
        ("Swims.", True, False),
    ]
    assert await open_judgements(tale.store) == []


async def test_a_person_who_edits_meanwhile_has_the_last_word(tale: Tale) -> None:
    (trait,) = await with_traits(tale, "Runs every morning.")
    await tale.exchanges(1)
    await noted(tale, note(tale, "Runs.", 1))
    judgement = await claimed(tale.store, JudgementKind.TRAITS)
    work = await tale.store.work_for_traits(judgement)
    own = replace(trait, text="Walks every morning.", sources=())
    assert await tale.store.save_trait(own, by=str(MIO), at=later(600), former=True)
    seen = replace(trait, matches=2, importance=3)
    assert not await tale.store.commit_traits(judgement.id, work, [], [seen], [], later(601))
    assert (await portrait(tale)).traits == (own,)

    work = await tale.store.work_for_traits(judgement)
    await tale.store.remove_note(MIO, work.notes[0].id)
    assert not await tale.store.commit_traits(judgement.id, work, [], [], [], later(602))
    work = await tale.store.work_for_traits(judgement)
    assert work.notes == ()
    assert await tale.store.commit_traits(judgement.id, work, [], [], [], later(603))


async def test_a_note_that_comes_while_others_are_judged_is_judged_next(tale: Tale) -> None:
    await tale.exchanges(1)
    await noted(tale, note(tale, "First.", 1))
    judgement = await claimed(tale.store, JudgementKind.TRAITS)
    work = await tale.store.work_for_traits(judgement)
    await tale.exchanges(1)
    await noted(tale, note(tale, "Second.", 3))
    assert await tale.store.commit_traits(judgement.id, work, [], [], [], later(600))

    assert await open_judgements(tale.store) == [(JudgementKind.TRAITS, False)]
    assert [n.text for n in (await judged_traits(tale)).notes] == ["Second."]
    assert await open_judgements(tale.store) == []


async def test_more_notes_than_fit_are_judged_in_two(tale: Tale) -> None:
    await tale.exchanges(1)
    await noted(tale, *(note(tale, f"Said {number}.", 1) for number in range(31)))
    judged = [note.text for _ in range(2) for note in (await judged_traits(tale)).notes]

    assert judged == [f"Said {number}." for number in range(31)]
    assert await open_judgements(tale.store) == []


async def test_a_morning_is_held_once(tale: Tale) -> None:
    await tale.exchanges(3)
    await tale.player("Hello.", by=KAI, name="Kai")
    await tale.reply()
    elsewhere = await begin(tale.store, channel_id=200)
    await elsewhere.exchanges(1)
    held = await asyncio.gather(*(tale.store.hold_morning(100, date(2026, 4, 2), later(500)) for _ in range(5)))
    assert sorted(held, key=str) == [2, None, None, None, None]
    assert await open_judgements(tale.store) == [(JudgementKind.NOTES, True)] * 2

    assert await tale.store.hold_morning(100, date(2026, 4, 1), later(500)) is None
    assert await tale.store.hold_morning(100, date(2026, 4, 3), later(501)) == 2
    assert await tale.store.hold_morning(0, date(2026, 4, 3), later(501)) == 0
    assert len(await tale.store.due_judgements(later(501))) == 2
    assert await tale.store.hold_morning(200, date(2026, 4, 3), later(501)) == 1


async def test_in_the_morning_all_that_is_left_is_judged_stretch_by_stretch(tale: Tale) -> None:
    await tale.exchanges(25)
    await morning(tale)
    assert await open_judgements(tale.store) == [(JudgementKind.NOTES, True)]
    for left in (5, 0):
        judgement = await claimed(tale.store)
        exchange_ids, revisions = await read(tale.store, judgement)
        assert await tale.store.commit_notes(judgement.id, exchange_ids, revisions, [], later(9))
        assert (await states(tale.store)).count(ExchangeState.FRESH) == left
    assert await open_judgements(tale.store) == []


async def test_a_morning_adds_to_a_judgement_that_runs(tale: Tale) -> None:
    await tale.exchanges(8)
    running: Judgement = await claimed(tale.store)
    await morning(tale)
    assert await open_judgements(tale.store) == [(JudgementKind.NOTES, True)]
    exchange_ids, revisions = await read(tale.store, running)
    assert await tale.store.commit_notes(running.id, exchange_ids, revisions, [], later(9))
    assert len((await tale.store.work_for_notes(await claimed(tale.store))).exchanges) == 4


async def test_the_guilds_with_somebody_to_judge(store: Store) -> None:
    assert await store.guilds_with_people() == {}
    await begin(store, channel_id=300)
    for channel in (100, 200):
        await (await begin(store, channel_id=channel)).exchanges(1)
    character = await store.add_character(Scope(None, MIO), Card("Rin", "A keeper."), "", START)
    session, _ = await store.start_session(Place(None, 900), character.id, "en", None, Head("", 0), START)
    await Tale(store, session.id, 900).exchanges(1)
    await store.save_guild_settings(GuildSettings(200, time_zone="Asia/Tokyo"))

    assert await store.guilds_with_people() == {0: None, 100: None, 200: "Asia/Tokyo"}
    assert await morning(Tale(store, session.id, 900), 0) == 1


async def test_work_of_somebody_unknown(tale: Tale) -> None:
    await tale.exchanges(8)
    judgement = await claimed(tale.store)
    async with tale.store._database.write() as connection:
        for table in (exchanges, judgements, acquaintances):
            await connection.execute(delete(table))
    with pytest.raises(LookupError, match="no acquaintance 1"):
        await tale.store.work_for_notes(judgement)
    assert not await tale.store.commit_notes(judgement.id, [], {}, [], later(9))
    await tale.store.fail_judgement(judgement.id, "broken", retry_at=None, now=later(9))
