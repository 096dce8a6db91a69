"""A player's report, from ``/memory flag`` to the moderator's button."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import discord
import pytest
import simcord
from sqlalchemy import select

from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.corrections import CorrectionKind
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.moderation import FlagState
from bot.memory.story import Session
from bot.store.tables import flags
from tests.cogs.conftest import FLAGS_PER_HOUR, World, told
from tests.cogs.moderated import (
    answered,
    labels,
    link_to_lie,
    log_channel,
    remembered,
    shown,
    tell_a_lie,
    words,
)

WHY = "Rin *lied* to @everyone."


@pytest.fixture
async def session(world: World) -> Session:
    return await tell_a_lie(world)


async def rows(world: World) -> list[tuple[Any, ...]]:
    """The reports as stored: number, why, state, what was done, by whom."""
    columns = (flags.c.number, flags.c.why, flags.c.state, flags.c.correction, flags.c.decided_by)
    async with world.store._database.read() as connection:
        return [tuple(row) for row in await connection.execute(select(*columns).order_by(flags.c.id))]


async def flagged(world: World, number: int = 1) -> discord.Message:
    """The message in a new log channel about a report of Mio's."""
    log = await log_channel(world)
    await world.mio.slash(world.channel, "memory flag", number=number, why=WHY)
    message = log.last_message
    assert message is not None
    return message


async def test_a_report_is_one_message_before_the_moderators(world: World, session: Session) -> None:
    log = await log_channel(world)

    result = await world.mio.slash(world.channel, "memory flag", number=1, why=WHY)

    (message,) = log.history()
    assert message.embeds[0].title == "Is memory #1 wrong?"
    assert words(message).splitlines() == [
        "`#1` ✔ The bridge burnt down.",
        "",
        f"<@{world.mio.id}> reports:",
        "> Rin \\*lied\\* to @everyone.",
        f"<#{world.channel.id}> · [Turn 2]({link_to_lie(world)})",
    ]
    assert labels(message) == ["It's a claim", "Edit", "Retract", "Dismiss"]
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("flag-sent", number=1)
    assert await rows(world) == [(1, WHY, FlagState.OPEN, None, None)]
    assert len(world.channel.history()) == 2


async def test_what_is_not_told_as_a_fact_is_not_offered_as_a_claim(world: World, session: Session) -> None:
    message = await flagged(world, 3)

    assert labels(message) == ["Edit", "Retract", "Dismiss"]


DECISIONS = [
    ("claim", "noted that it was only said.", CorrectionKind.SAID_NOT_TRUE, MemoryKind.CLAIM, MemoryStatus.ACTIVE),
    ("retract", "took it out.", CorrectionKind.RETRACT, MemoryKind.FACT, MemoryStatus.RETRACTED),
    ("dismiss", "left it as it is.", None, MemoryKind.FACT, MemoryStatus.ACTIVE),
]


@pytest.mark.parametrize(("decision", "said", "correction", "kind", "status"), DECISIONS)
async def test_a_button_decides_after_a_restart_says_so_and_goes(
    world: World,
    session: Session,
    decision: str,
    said: str,
    correction: CorrectionKind | None,
    kind: MemoryKind,
    status: MemoryStatus,
) -> None:
    message = await flagged(world)
    log = next(c for name, c in world.guild.channels.items() if name == "log")
    await world.restart()

    await world.sora.click(message, custom_id=f"flag:1:{decision}")

    report, *entries = log.history()
    assert words(report).splitlines()[-1] == f"**<@{world.sora.id}> {said}**"
    assert labels(report) == []
    assert [labels(entry) for entry in entries] == ([] if correction is None else [["Undo"]])
    memory = await remembered(world, session, 1)
    assert (memory.kind, memory.status) == (kind, status)
    state = FlagState.DISMISSED if correction is None else FlagState.DONE
    assert await rows(world) == [(1, WHY, state, correction, world.sora.id)]
    history = (await world.engine.detail(session.id, 1)).history
    assert [v.reason for v in history] == (["", WHY] if correction else [""])


async def test_edit_asks_for_the_new_text_beside_the_cited_turns(world: World, session: Session) -> None:
    message = await flagged(world)
    await world.restart()

    form = await world.sora.click(message, custom_id="flag:1:edit")
    assert form.modal is not None
    evidence, text = form.modal["components"]
    assert link_to_lie(world) in evidence["content"]
    assert text["component"]["custom_id"] == "text"
    assert (await rows(world))[0][2] is FlagState.OPEN
    await world.sora.submit_modal(form, {"text": "The bridge stands."})

    log = next(c for name, c in world.guild.channels.items() if name == "log")
    report, entry = log.history()
    assert words(report).splitlines()[-1] == f"**<@{world.sora.id}> changed it.**"
    assert labels(report) == []
    assert "`#1` ✔ The bridge stands. ✎" in words(entry)
    assert (await remembered(world, session, 1)).content.text == "The bridge stands."
    assert await rows(world) == [(1, WHY, FlagState.DONE, CorrectionKind.EDIT, world.sora.id)]


async def test_of_two_moderators_one_wins_and_the_other_is_told(world: World, session: Session) -> None:
    message = await flagged(world)
    kai = world.guild.add_member(world.env.create_user("kai"), roles=[world.guild.roles["Moderators"]])
    form = await kai.click(message, custom_id="flag:1:edit")
    await world.sora.click(message, custom_id="flag:1:claim")

    late = await kai.submit_modal(form, {"text": "The bridge stands."})

    simcord.assert_error(world.env, Refused)
    assert answered(late).content == world.bot.catalogue.text("flag-decided", by=f"<@{world.sora.id}>")
    memory = await remembered(world, session, 1)
    assert (memory.kind, memory.content.text) == (MemoryKind.CLAIM, "The bridge burnt down.")
    assert await rows(world) == [(1, WHY, FlagState.DONE, CorrectionKind.SAID_NOT_TRUE, world.sora.id)]


async def test_a_correction_that_makes_no_sense_leaves_the_report_open(world: World, session: Session) -> None:
    message = await flagged(world)
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")

    result = await world.sora.click(message, custom_id="flag:1:claim")

    assert answered(result).content == world.bot.catalogue.text("correction-not-a-fact", number=1)
    assert (await rows(world))[0][2] is FlagState.OPEN
    log = next(c for name, c in world.guild.channels.items() if name == "log")
    assert [labels(m) for m in log.history()] == [["It's a claim", "Edit", "Retract", "Dismiss"], ["Undo"]]


async def test_a_player_cannot_decide(world: World, session: Session) -> None:
    message = await flagged(world)

    result = await world.mio.click(message, custom_id="flag:1:retract")

    assert told(result) == world.bot.catalogue.text("moderators-only")
    assert (await remembered(world, session, 1)).is_active
    assert (await rows(world))[0][2] is FlagState.OPEN


async def test_without_a_log_channel_the_report_is_kept_for_the_list(world: World, session: Session) -> None:
    result = await world.mio.slash(world.channel, "memory flag", number=1, why=WHY)
    listed = await world.sora.slash(world.channel, "memory flags")

    assert told(result) == world.bot.catalogue.text("flag-kept", number=1)
    assert await rows(world) == [(1, WHY, FlagState.OPEN, None, None)]
    assert listed.ephemeral
    assert told(listed).startswith("One report is waiting.")
    assert "`#1` ✔ The bridge burnt down." in shown(listed)
    assert labels(answered(listed)) == ["It's a claim", "Edit", "Retract", "Dismiss"]

    await world.sora.click(answered(listed), custom_id="flag:1:claim")
    empty = await world.sora.slash(world.channel, "memory flags")

    assert (await remembered(world, session, 1)).kind is MemoryKind.CLAIM
    assert words(answered(listed)).endswith(f"**<@{world.sora.id}> noted that it was only said.**")
    assert told(empty) == "No report is waiting."


async def test_the_list_is_for_moderators_of_the_guild(world: World, session: Session) -> None:
    await world.mio.slash(world.channel, "memory flag", number=1, why=WHY)

    result = await world.mio.slash(world.channel, "memory flags")

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("moderators-only")
    assert await world.moderation.open_reports(world.guild.id + 1) == ()


async def test_reports_are_bounded_per_hour_and_player(world: World, session: Session) -> None:
    for _ in range(FLAGS_PER_HOUR):
        await world.mio.slash(world.channel, "memory flag", number=1, why=WHY)
    refused = await world.mio.slash(world.channel, "memory flag", number=3, why=WHY)
    simcord.assert_error(world.env, Refused)
    assert told(refused) == world.bot.catalogue.text("flag-limit", most=FLAGS_PER_HOUR)
    assert len(await rows(world)) == FLAGS_PER_HOUR

    await world.sora.slash(world.channel, "memory flag", number=1, why="I think so too.")
    await world.env.advance_time(timedelta(hours=1, seconds=1).total_seconds())
    await world.mio.slash(world.channel, "memory flag", number=3, why="Again.")

    assert [why for _, why, *_ in await rows(world)] == [WHY] * FLAGS_PER_HOUR + ["I think so too.", "Again."]


async def test_what_does_not_exist_or_is_not_in_use_is_no_matter_for_a_report(world: World, session: Session) -> None:
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="Never happened.")

    gone = await world.mio.slash(world.channel, "memory flag", number=1, why=WHY)
    simcord.assert_error(world.env, Refused)
    unknown = await world.mio.slash(world.channel, "memory flag", number=99, why=WHY)
    simcord.assert_error(world.env, NotFound)

    assert told(gone) == world.bot.catalogue.text("flag-not-in-use", number=1)
    assert told(unknown) == world.bot.catalogue.text("memory-unknown", number=99)
    assert await rows(world) == []


async def test_in_a_direct_message_there_is_nobody_to_report_to(world: World) -> None:
    result = await world.mio.user.slash("memory flag", number=1, why=WHY)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("flag-guild-only")
