"""Judging, on the real store and a real socket: what is asked, what is stored, and that a reply never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bot.core import open_core
from bot.llm.requests import Priority, Purpose
from bot.memory.people import ExchangeState, Portrait
from bot.memory.story import FoldState
from bot.store.database import Database
from bot.store.people_tables import acquaintances, exchanges, judgements
from tests.support.judge import NOTES, TRAITS, be_honest, habits, other_lines, own_lines, shown_notes
from tests.support.model_server import ModelServer, Script
from tests.support.scene import ALEX, MIO, Scene, open_scene, settings_for

RUNS = "I run along the river every morning before work."
REFUSAL = "I'm sorry, but I can't help with creating that record."
SMALL_TALK = (
    "The harbour is grey tonight.", "Did you see the lamp on the pier?", "That rope looks old.", "Mind the third step.",
    "The fog is thicker than it was.", "Somebody left a crate here.", "The bell rang twice just now.",
)  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        be_honest(running)
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "k.db") as opened:
        yield opened


async def talk(scene: Scene, *, count: int = 8, first: str = RUNS, by: int = MIO, name: str = "Mio") -> None:
    """So many exchanges with a person, the first of which tells something of them."""
    for text in (first, *SMALL_TALK)[:count]:
        await scene.exchange(text, by=by, name=name)


async def night(scene: Scene, *texts: str, name: str = "Mio") -> None:
    """Mio writes, and a morning comes at which all of it is to be judged."""
    for text in texts or (RUNS,):
        await scene.exchange(text, name=name)
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()


async def judged(scene: Scene, *texts: str) -> None:
    """The same, and the judging that follows is done."""
    await night(scene, *texts)
    await scene.core.judging.run_due()


def own_text(body: dict[str, Any]) -> str:
    """What the person wrote first, less the subject."""
    return next(iter(own_lines(body).values())).removeprefix("I ")


async def kept(scene: Scene, player_id: int = MIO) -> Portrait:
    """All that is kept about a person."""
    (portrait,) = await scene.core.store.portraits_of(player_id, 1, everywhere=False)
    return portrait


async def rows_of(path: Path, column: Any) -> list[Any]:
    """A column, in the order of the rows."""
    database = Database.at(f"sqlite:///{path.as_posix()}")
    async with database.read() as connection:
        found = (await connection.execute(select(column).order_by(column.table.c.id))).scalars().all()
    await database.close()
    return list(found)


async def states(path: Path) -> Counter[ExchangeState]:
    """How many exchanges stand where."""
    return Counter(await rows_of(path, exchanges.c.state))


async def test_of_eight_exchanges_the_oldest_four_become_notes_and_these_a_trait(scene: Scene, tmp_path: Path) -> None:
    await talk(scene, count=7)
    await scene.core.judging.run_due()
    assert scene.server.of(NOTES) == []

    await scene.exchange("And the eighth time I write.")
    await scene.core.judging.run_due()

    (asked,) = scene.server.of(NOTES)
    assert list(own_lines(asked.body).values()) == [RUNS, *SMALL_TALK[:3]]
    assert set(other_lines(asked.body).values()) == {"Aye."}
    assert asked.messages[0]["role"] == "system"
    portrait = await kept(scene)
    (trait,) = portrait.traits
    (note,) = portrait.notes
    assert (trait.text, trait.importance, trait.matches) == ("Runs along the river every morning before work.", 2, 1)
    assert (note.text, note.judged, note.absorbed) == (trait.text, True, True)
    assert trait.sources == note.sources
    (source,) = trait.sources
    (turn,) = await scene.core.store.turns(scene.session.id, source.seq, source.seq)
    assert turn.raw == RUNS
    assert await states(tmp_path / "k.db") == {ExchangeState.JUDGED: 4, ExchangeState.FRESH: 4}
    assert Purpose.JUDGE.priority is max(Priority)


async def test_that_there_is_nothing_to_keep_is_an_answer(scene: Scene, tmp_path: Path) -> None:
    scene.server.on[NOTES] = lambda _: {"notes": []}

    await judged(scene)

    assert len(scene.server.of(NOTES)) == 1
    assert scene.server.of(TRAITS) == []
    assert await states(tmp_path / "k.db") == {ExchangeState.JUDGED: 1}
    assert (await kept(scene)).notes == ()


ESSAY = '*Rin laughs.* "Mio runs?" She leans on the wheel, looks over the water and begins to tell of her own mornings.'
THOUSAND = [f"Counts the {n} buoys of the bay every morning before breakfast." for n in range(1_000)]


@pytest.mark.parametrize(
    ("answer", "code", "requests"),
    [
        (REFUSAL, "refused", 6),
        (ESSAY, "story", 3),
        ("The person is " + "very very " * 500, "repet", 3),
        ({"notes": [{"text": text, "cites": [2]} for text in THOUSAND]}, "cut", 3),
        ({"notes": [{"text": text, "cites": [2]} for text in THOUSAND[:25]]}, "long", 3),
        ("", "empty", 3),
        ({"memories": []}, "empty", 3),
        (Script('{"notes": [', finish_reason="length"), "cut", 3),
    ],
)
async def test_a_judge_that_answers_nothing_usable_is_asked_three_times_then_the_part_is_dropped(
    scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture, answer: Any, code: str, requests: int
) -> None:
    caplog.set_level(logging.INFO)
    scene.server.on[NOTES] = lambda _: answer
    await night(scene, RUNS, SMALL_TALK[0])

    for _ in range(5):
        await scene.core.judging.run_due()
        scene.clock.pass_by(hours=1)

    assert len(scene.server.of(NOTES)) == requests
    assert await states(tmp_path / "k.db") == {ExchangeState.DROPPED: 2}
    assert await rows_of(tmp_path / "k.db", judgements.c.state) == [FoldState.FAILED]
    (error,) = await rows_of(tmp_path / "k.db", judgements.c.error)
    assert code in error
    portrait = await kept(scene)
    assert (portrait.notes, portrait.traits, portrait.waiting) == ((), (), 0)
    assert [r.message.count("3 of 3 times, given up") for r in caplog.records if "3 of 3" in r.message] == [1]
    assert RUNS not in caplog.text
    await scene.exchange("We are still here.")


async def test_a_thousand_traits_are_refused_and_the_note_stays_a_note(scene: Scene) -> None:
    scene.server.on[TRAITS] = lambda _: {
        "new": [{"text": text, "notes": [1], "until": ""} for text in THOUSAND], "seen": [], "updates": [],
    }  # fmt: skip
    await night(scene)

    for _ in range(5):
        await scene.core.judging.run_due()
        scene.clock.pass_by(hours=1)

    assert len(scene.server.of(TRAITS)) == 3
    portrait = await kept(scene)
    assert portrait.traits == ()
    assert [(note.judged, note.absorbed) for note in portrait.notes] == [(True, False)]


async def test_an_answer_that_keeps_everything_and_others_facts_is_cut_down_to_what_the_person_showed(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    def greedy(body: dict[str, Any]) -> dict[str, Any]:
        lines = {**own_lines(body), **other_lines(body)}
        return {"notes": [{"text": text, "cites": [number]} for number, text in lines.items()]}

    scene.server.on[NOTES] = greedy
    await scene.hear("I paint boats every winter.", by=ALEX, name="Alex")
    await scene.exchange(RUNS, '"I keep two cats at the pier, Mio."')

    await judged(scene, "What a night.")

    texts = [note.text for note in (await kept(scene)).notes]
    assert RUNS in texts
    assert [text for text in texts if "paint" in text or "cats" in text] == []
    lines = [r.message for r in caplog.records if "exchanges judged" in r.message]
    assert ["no-evidence" in line for line in lines] == [True, True]
    assert "river" not in caplog.text


async def test_a_failed_try_is_made_up_for(scene: Scene) -> None:
    scene.server.queued[NOTES].extend(["", Script.html()])
    await night(scene)

    await scene.core.judging.run_due()
    assert (await kept(scene)).traits == ()
    await scene.core.judging.run_due()
    assert len(scene.server.of(NOTES)) == 1, "not before its time"
    for _ in range(2):
        scene.clock.pass_by(hours=1)
        await scene.core.judging.run_due()

    assert len((await kept(scene)).traits) == 1


async def test_a_server_that_is_down_for_a_day_costs_nothing_but_time(scene: Scene, tmp_path: Path) -> None:
    scene.server.on[NOTES] = lambda _: Script.html()
    await night(scene)
    for _ in range(8):
        await scene.core.judging.run_due()
        scene.clock.pass_by(hours=3)
    assert len(scene.server.of(NOTES)) == 8
    assert await states(tmp_path / "k.db") == {ExchangeState.FRESH: 1}

    scene.server.on[NOTES] = habits
    await scene.core.judging.run_due()

    assert len((await kept(scene)).traits) == 1


async def test_a_talk_too_long_for_the_window_is_judged_in_parts(scene: Scene, tmp_path: Path) -> None:
    for number in range(8):
        await scene.exchange(f"Number {number}: " + "the long grey swell under the rain " * 25)
    scene.server.window = 1_400

    await scene.core.judging.run_due()

    judged = (await states(tmp_path / "k.db"))[ExchangeState.JUDGED]
    assert 0 < judged < 4
    assert len(own_lines(scene.server.of(NOTES)[-1].body)) == judged


async def test_a_reply_does_not_wait_for_a_hanging_judge(scene: Scene) -> None:
    scene.server.queued[NOTES].append(Script("{}", hang=asyncio.Event()))
    await night(scene)
    (hanging,) = await scene.server.arrived(1, NOTES)

    reply = await asyncio.wait_for(scene.exchange("Are you there?", '"Aye, I am here."'), 30)

    assert "I am here" in reply.text
    await asyncio.wait_for(hanging.disconnected.wait(), 30)
    await scene.core.judging.run_due()
    assert len((await kept(scene)).traits) == 1


async def test_two_that_wake_at_once_judge_once(scene: Scene) -> None:
    await night(scene)

    await asyncio.gather(scene.core.judging.run_due(), scene.core.judging.run_due())

    assert (len(scene.server.of(NOTES)), len(scene.server.of(TRAITS))) == (1, 1)
    assert len((await kept(scene)).notes) == 1


@pytest.mark.parametrize("purpose", [NOTES, TRAITS])
async def test_a_crash_after_the_claim_loses_nothing_and_judges_nothing_twice(
    server: ModelServer, tmp_path: Path, purpose: str
) -> None:
    path = tmp_path / "k.db"
    async with open_scene(server, path) as scene:
        server.queued[purpose].append(Script("{}", hang=asyncio.Event()))
        await night(scene)
        running = asyncio.create_task(scene.core.judging.run_due())
        await server.arrived(1, purpose)
        assert FoldState.RUNNING in await rows_of(path, judgements.c.state)
        running.cancel()
        clock = scene.clock
    async with open_core(settings_for(server, path), clock=clock) as core:
        for _ in range(3):
            await core.judging.run_due()
        (portrait,) = await core.store.portraits_of(MIO, 1, everywhere=False)

    assert (len(portrait.notes), [t.matches for t in portrait.traits]) == (1, [1])
    assert await states(path) == {ExchangeState.JUDGED: 1}
    assert len(server.of(purpose)) == 2
    assert set(await rows_of(path, judgements.c.state)) == {FoldState.DONE}


async def test_a_message_edited_while_it_is_judged_is_judged_as_it_is_now(scene: Scene) -> None:
    async def meddle(body: dict[str, Any]) -> dict[str, Any]:
        if len(scene.server.of(NOTES)) == 1:
            await scene.core.engine.message_edited(1001, "I swim in the harbour every evening.")
        return habits(body)

    scene.server.on[NOTES] = meddle

    await judged(scene)

    assert [note.text for note in (await kept(scene)).notes] == ["Swims in the harbour every evening."]


async def test_a_trait_taken_away_while_notes_are_judged_is_not_written_over(scene: Scene) -> None:
    await judged(scene)
    (trait,) = (await kept(scene)).traits

    async def meddle(body: dict[str, Any]) -> dict[str, Any]:
        if len(scene.server.of(TRAITS)) == 2:
            await scene.core.people.take_away(MIO, trait.id)
        return {"new": [], "seen": [{"trait": 1, "notes": list(shown_notes(body))}], "updates": []}

    scene.server.on[TRAITS] = meddle
    await judged(scene)

    assert len(scene.server.of(TRAITS)) == 3, "the second answer was made from what is no longer so"
    (after,) = (await kept(scene)).traits
    assert (after.deleted, after.matches) == (True, 1)


async def test_what_is_seen_again_counts_and_what_changed_keeps_its_old_words(scene: Scene) -> None:
    for _ in range(2):
        await judged(scene)
    (seen,) = (await kept(scene)).traits
    assert (seen.importance, seen.matches) == (3, 2)
    assert len(seen.sources) == 2

    def overwrite(body: dict[str, Any]) -> dict[str, Any]:
        text = "Runs by the sea every morning."
        return {"new": [], "seen": [], "updates": [{"trait": 1, "text": text, "notes": list(shown_notes(body))}]}

    scene.server.on[TRAITS] = overwrite
    await judged(scene, "I run by the sea every morning now, not along the river.")

    portrait = await kept(scene)
    (now,) = portrait.traits
    assert (now.text, now.importance, now.matches) == ("Runs by the sea every morning.", 4, 3)
    assert portrait.former is not None
    assert [(f.text, f.by) for f in portrait.former[now.id]] == [(seen.text, "judge")]


async def test_without_tokens_for_people_nobody_is_judged_or_gets_known(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", people_tokens=0) as scene:
        await talk(scene)
        await judged(scene)

    assert [r.purpose for r in server.requests if r.purpose != "reply"] == []
    assert await rows_of(tmp_path / "k.db", exchanges.c.id) == []
    assert await rows_of(tmp_path / "k.db", acquaintances.c.id) == []


async def test_without_tokens_for_people_what_was_taken_away_goes_all_the_same(
    server: ModelServer, tmp_path: Path
) -> None:
    path = tmp_path / "k.db"
    async with open_scene(server, path) as scene:
        await judged(scene)
        (trait,) = (await kept(scene)).traits
        await scene.core.people.take_away(MIO, trait.id)
        await scene.exchange("And now?")
        clock = scene.clock
    async with open_core(settings_for(server, path, people_tokens=0), clock=clock) as core:
        for _ in range(65):
            clock.pass_by(days=1)
            await core.judging.hold_mornings()
        (portrait,) = await core.store.portraits_of(MIO, 1, everywhere=False)

    assert (portrait.traits, portrait.notes, portrait.waiting) == ((), (), 1)
    assert len(server.of(NOTES)) == 1
    assert FoldState.DUE not in await rows_of(path, judgements.c.state)


async def test_outages_do_not_count_against_a_judge_and_waits_grow(scene: Scene, tmp_path: Path) -> None:
    scene.server.on[NOTES] = lambda _: Script.html()
    await night(scene)
    waits = []
    for _ in range(4):
        await scene.core.judging.run_due()
        (due,) = await scene.core.store.due_judgements(scene.clock() + timedelta(days=9))
        waits.append(due.due_at - scene.clock())
        scene.clock.pass_by(hours=3)
    scene.server.on[NOTES] = habits
    scene.server.queued[NOTES].extend(["", ""])
    for _ in range(3):
        await scene.core.judging.run_due()
        scene.clock.pass_by(hours=3)

    assert waits == sorted(set(waits))
    assert len(scene.server.of(NOTES)) == 7
    assert await states(tmp_path / "k.db") == {ExchangeState.JUDGED: 1}
    assert len((await kept(scene)).traits) == 1


async def test_what_came_while_a_judge_failed_is_not_dropped_with_it(server: ModelServer, tmp_path: Path) -> None:
    async with open_scene(server, tmp_path / "k.db", llm_parallel=2) as scene:

        async def refuse(_: dict[str, Any]) -> str:
            if len(server.of(NOTES)) == 3:
                await scene.exchange("I swim in the harbour every evening.")
            return ""

        server.on[NOTES] = refuse
        await night(scene)
        for _ in range(3):
            await scene.core.judging.run_due()
            scene.clock.pass_by(hours=3)

    assert len(server.of(NOTES)) == 4
    assert RUNS not in own_lines(server.of(NOTES)[3].body).values()
    assert await states(tmp_path / "k.db") == {ExchangeState.DROPPED: 1, ExchangeState.FRESH: 1}


async def test_a_date_ahead_reaches_a_trait_that_is_known(scene: Scene) -> None:
    def exam(body: dict[str, Any]) -> dict[str, Any]:
        return {"notes": [{"text": "wants to take the bar exam", "cites": list(own_lines(body))[:1]}]}

    dates = iter(["", "2026-07-01", "2026-12-01"])

    def once_more(body: dict[str, Any]) -> dict[str, Any]:
        new = {"text": "wants to take the bar exam", "notes": list(shown_notes(body)), "until": next(dates)}
        return {"new": [new], "seen": [], "updates": []}

    scene.server.on[NOTES], scene.server.on[TRAITS] = exam, once_more
    found = []
    for _ in range(3):
        await judged(scene, "I want to take the bar exam.")
        (trait,) = (await kept(scene)).traits
        found.append(trait.until)

    assert found == [None, date(2026, 7, 1), date(2026, 12, 1)]


@pytest.mark.parametrize(("text", "until"), [("took the bar exam", None), ("wants to take the bar exam", "2026-03-03")])
async def test_a_new_wording_is_not_about_a_date_that_is_past(scene: Scene, text: str, until: str | None) -> None:
    scene.server.on[NOTES] = lambda body: {"notes": [{"text": own_text(body), "cites": list(own_lines(body))[:1]}]}
    first = {"text": "wants to take the bar exam", "notes": [1], "until": "2026-03-03"}
    scene.server.queued[TRAITS].append({"new": [first], "seen": [], "updates": []})
    await judged(scene, "I want to take the bar exam.")
    scene.clock.pass_by(days=5)
    change = {"trait": 1, "text": text, "notes": [1], "until": ""}
    scene.server.queued[TRAITS].append({"new": [], "seen": [], "updates": [change]})
    await judged(scene, f"I {text}.")

    (trait,) = (await kept(scene)).traits
    assert (trait.text, trait.until) == (text, date.fromisoformat(until) if until else None)


async def test_an_edit_counts_nothing_twice(scene: Scene) -> None:
    await judged(scene)
    message = await scene.hear("I run along the river every morning before work, still.")
    await scene.reply()
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()
    await scene.core.judging.run_due()
    (trait,) = (await kept(scene)).traits
    assert (trait.importance, trait.matches) == (3, 2)
    for number in range(1, 4):
        text = "I run along the river every morning before work, still" + "!" * number
        await scene.core.engine.message_edited(message, text)
        scene.clock.pass_by(days=1)
        await scene.core.judging.hold_mornings()
        await scene.core.judging.run_due()

    (trait,) = (await kept(scene)).traits
    assert (trait.importance, trait.matches, len(trait.sources)) == (3, 2, 2)


async def test_an_edit_brings_back_nothing_that_was_taken_away(scene: Scene) -> None:
    message = await scene.hear("I run along the river every morning befor work.")
    await scene.reply()
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()
    await scene.core.judging.run_due()
    portrait = await kept(scene)
    await scene.core.people.take_away(MIO, portrait.traits[0].id)
    await scene.core.people.remove_note(MIO, portrait.notes[0].id)
    await scene.core.engine.message_edited(message, RUNS)
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()
    await scene.core.judging.run_due()

    assert len(scene.server.of(NOTES)) == 2
    after = await kept(scene)
    assert (after.notes, [trait.deleted for trait in after.traits]) == ((), [True])


async def test_the_judge_speaks_the_language_of_the_talk(scene: Scene) -> None:
    scene.server.on[NOTES] = lambda body: {
        "notes": [{"text": "毎朝、川沿いを走っている。", "cites": [next(iter(own_lines(body)))]}]
    }
    await night(scene, "毎朝、川沿いを走っています。", "今日は霧が濃いですね。", name="ミオ")
    await scene.core.judging.run_due()

    for purpose in (NOTES, TRAITS):
        (asked,) = scene.server.of(purpose)
        assert "ミオ" in asked.messages[0]["content"]
        assert "You " not in asked.messages[0]["content"]
    assert [t.text for t in (await kept(scene)).traits] == ["毎朝、川沿いを走っている。"]
