"""Every correction is posted to the log, and is undone by one click: from there, from the answer, or from the history."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
import simcord

from bot.errors import NotAllowed, Refused
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.story import Session
from tests.cogs.conftest import KEEPER, World, told
from tests.cogs.moderated import LIE, answered, labels, link_to_lie, log_channel, remembered, shown, tell_a_lie, words


@pytest.fixture
async def session(world: World) -> Session:
    return await tell_a_lie(world)


async def versions(world: World, session: Session, number: int = 1) -> list[tuple[str, str, str]]:
    """Who made each version of a memory, as what it stood, and why."""
    detail = await world.engine.detail(session.id, number)
    return [(v.by, v.content.kind.value, v.reason) for v in detail.history]


async def test_a_correction_is_posted_with_old_and_new_who_why_and_a_link(world: World, session: Session) -> None:
    log = await log_channel(world)

    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="Rin *lied*.")

    (entry,) = log.history()
    assert entry.embeds[0].title == "Memory #1 is corrected"
    assert words(entry).splitlines() == [
        "~~`#1` ✔ The bridge burnt down.~~",
        "`#1` 💬 Rin said: The bridge burnt down. ✎",
        "",
        f"<@{world.sora.id}> noted that it was only said.",
        "> Rin \\*lied\\*.",
        f"<#{world.channel.id}> · [Turn 2]({link_to_lie(world)})",
    ]
    assert labels(entry) == ["Undo"]
    assert (await remembered(world, session, 1)).kind is MemoryKind.CLAIM


async def test_without_a_log_channel_nothing_is_posted_and_the_correction_stands(
    world: World, session: Session
) -> None:
    other = world.guild.create_text_channel("other")

    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="Never happened.")

    assert other.history() == []
    assert len(world.channel.history()) == 2
    assert (await remembered(world, session, 1)).status is MemoryStatus.RETRACTED


async def test_a_log_channel_that_is_gone_stops_no_correction(world: World, session: Session) -> None:
    log = await log_channel(world)
    world.env.backend.delete_channel(log.id)

    result = await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="No.")

    assert "~~`#1` ✔ The bridge burnt down.~~" in shown(result)
    assert (await remembered(world, session, 1)).status is MemoryStatus.RETRACTED


async def test_the_log_entry_undoes_after_a_restart(world: World, session: Session) -> None:
    log = await log_channel(world)
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="Never happened.")
    await world.restart()

    result = await world.sora.click(log.history()[0], custom_id=f"undo:{session.id}:1:2")

    memory = await remembered(world, session, 1)
    assert (memory.status, memory.content.text, memory.corrected) == (MemoryStatus.ACTIVE, LIE, False)
    by = str(world.sora.id)
    assert await versions(world, session) == [("fold", "fact", ""), (by, "fact", "Never happened."), (by, "fact", "")]
    first, second = log.history()
    assert labels(first) == []
    assert words(first).endswith(f"\n\n<@{by}> undid the last correction.")
    assert words(second).startswith("~~`#1` ✔ The bridge burnt down. ✎~~\n`#1` ✔ The bridge burnt down.")
    assert labels(second) == ["Undo"]
    assert answered(result).embeds[0].title == "Memory #1 is corrected"
    assert "The bridge burnt down." in (await world.store.snapshot(session.id)).memory_text


async def test_the_answer_undoes_and_what_was_undone_can_be_done_again(world: World, session: Session) -> None:
    answer = await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")
    assert labels(answered(answer)) == ["Undo"]

    undone = await world.sora.click(answered(answer), custom_id=f"undo:{session.id}:1:2")
    assert (await remembered(world, session, 1)).kind is MemoryKind.FACT
    await world.sora.click(answered(undone), custom_id=f"undo:{session.id}:1:3")

    memory = await remembered(world, session, 1)
    assert (memory.kind, memory.corrected, memory.version) == (MemoryKind.CLAIM, True, 4)


async def test_the_history_has_the_button_for_moderators_alone(world: World, session: Session) -> None:
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")
    player = await world.mio.slash(world.channel, "memory history", number=1)
    untouched = await world.sora.slash(world.channel, "memory history", number=3)
    moderator = await world.sora.slash(world.channel, "memory history", number=1)
    assert player.response is not None
    assert untouched.response is not None
    assert moderator.response is not None
    assert (labels(player.response), labels(untouched.response)) == ([], [])

    await world.sora.click(moderator.response, label="Undo")

    assert (await remembered(world, session, 1)).kind is MemoryKind.FACT
    assert "undid the last correction" in words(moderator.response)
    assert labels(moderator.response) == []


async def test_an_old_button_does_not_undo_a_newer_correction(world: World, session: Session) -> None:
    log = await log_channel(world)
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")
    await world.sora.slash(world.channel, "memory correct", number=1, what="edit", text="It stands.", reason="Seen.")

    result = await world.sora.click(log.history()[0], custom_id=f"undo:{session.id}:1:2")

    assert answered(result).content == world.bot.catalogue.text("undo-too-late", number=1)
    assert (await remembered(world, session, 1)).content.text == "It stands."


async def test_two_who_undo_at_once_undo_once(world: World, session: Session) -> None:
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")

    both = await asyncio.gather(
        *(world.moderation.undo(session.id, 1, 2, by=by) for by in (world.sora.id, KEEPER)), return_exceptions=True
    )

    assert sorted(type(one).__name__ for one in both) == ["Corrected", "Refused"]
    assert len(await versions(world, session)) == 3
    assert (await remembered(world, session, 1)).kind is MemoryKind.FACT


async def test_a_player_cannot_undo(world: World, session: Session) -> None:
    log = await log_channel(world)
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="A lie.")

    result = await world.mio.click(log.history()[0], custom_id=f"undo:{session.id}:1:2")

    assert told(result) == world.bot.catalogue.text("moderators-only")
    assert (await remembered(world, session, 1)).kind is MemoryKind.CLAIM
    assert labels(log.history()[0]) == ["Undo"]


async def test_the_actual_side_of_a_secret_is_written_anew_and_shown_nowhere(world: World, session: Session) -> None:
    log = await log_channel(world)
    form = await world.sora.slash(world.channel, "memory correct", number=2, what="edit", reason="She is not.")
    assert form.modal is not None
    assert "afraid" not in str(form.modal)

    result = await world.sora.submit_modal(form, {"text": "Rin smiles", "actual": "She is bored"})

    memory = await remembered(world, session, 2)
    assert (memory.content.text, memory.content.actual) == ("Rin smiles", "She is bored")
    everything = shown(result) + words(log.history()[0])
    assert everything.count("(Its actual side was written anew too.)") == 2
    assert "afraid" not in everything
    assert "bored" not in everything


async def test_an_empty_actual_side_keeps_the_one_there_is(world: World, session: Session) -> None:
    form = await world.sora.slash(world.channel, "memory correct", number=2, what="edit", reason="Clearer.")

    result = await world.sora.submit_modal(form, {"text": "Rin grins"})

    memory = await remembered(world, session, 2)
    assert (memory.content.text, memory.content.actual) == ("Rin grins", "She is afraid")
    assert "actual side" not in shown(result)


async def test_a_player_with_the_guilds_role_may_correct(world: World, session: Session) -> None:
    role = world.guild.create_role("Storytellers")
    kai = world.guild.add_member(world.env.create_user("kai"), roles=[role])
    refused = await kai.slash(world.channel, "memory correct", number=1, what="retract", reason="No.")
    simcord.assert_error(world.env, NotAllowed)
    await world.moderation.set_moderator_role(world.guild.id, role.id)

    await kai.slash(world.channel, "memory correct", number=1, what="retract", reason="No.")

    assert told(refused) == world.bot.catalogue.text("moderators-only")
    assert (await remembered(world, session, 1)).status is MemoryStatus.RETRACTED
    assert (await versions(world, session))[-1] == (str(kai.id), "fact", "No.")


async def test_a_correction_that_fails_is_not_posted(world: World, session: Session) -> None:
    log = await log_channel(world)

    await world.sora.slash(world.channel, "memory correct", number=3, what="edit", text="Other.", reason="Better.")

    simcord.assert_error(world.env, Refused)
    assert log.history() == []
    assert len(await versions(world, session, 3)) == 1


async def test_a_history_that_times_out_leaves_the_other_buttons_alive(world: World, session: Session) -> None:
    log = await log_channel(world)
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="Never happened.")
    history = await world.sora.slash(world.channel, "memory history", number=1)
    assert history.response is not None
    assert labels(history.response) == ["Undo"]

    await world.env.advance_time(timedelta(minutes=15).total_seconds())
    await world.sora.click(log.history()[0], custom_id=f"undo:{session.id}:1:2")

    assert labels(history.response) == []
    assert (await remembered(world, session, 1)).is_active
