"""Commands on messages, reactions and buttons: the channel shows the telling that stands, and only players may choose."""

from __future__ import annotations

from typing import Any

import discord
import pytest
import simcord
from simcord.backend.models import Overwrite
from simcord.enums import OverwriteType

from bot.errors import NotAllowed, NotFound, Refused
from bot.manners import Manners
from bot.memory.manners import Mode
from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import Citation, TurnState
from tests.cogs.conftest import KEEPER, RIN, Parts, World, told
from tests.cogs.moderated import shown
from tests.support.model_server import Script
from tests.support.wire import discord_world, eventually


@pytest.fixture
async def session(world: World) -> Session:
    """A story with one exchange."""
    session = await world.begin()
    world.server.replies.append("*Her arm bleeds.*")
    await world.mio.send(world.channel, "Are you hurt?")
    return session


def last(world: World) -> Any:
    return world.channel.history()[-1]


def buttons(message: Any) -> list[tuple[str, bool]]:
    found = [child for row in message.components for child in row.children]
    return [(child.label or str(child.emoji), child.disabled) for child in found]


def ids(message: Any) -> list[str]:
    return [child.custom_id for row in message.components for child in row.children]


async def test_a_retold_reply_is_edited_and_gets_buttons(world: World, session: Session) -> None:
    reply = last(world)
    world.server.replies.append("*Her knee bleeds.*")

    result = await world.mio.context_menu(world.channel, "Retell", reply)

    assert world.said() == [("Mio", "Are you hurt?"), ("Rin", "*Her knee bleeds.*")]
    assert last(world).id == reply.id
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("retell-done")
    assert buttons(last(world)) == [("◀", False), ("2/2", True), ("🔁", False)]
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]


async def test_buttons_lead_through_the_tellings_also_after_a_restart(world: World, session: Session) -> None:
    world.server.replies.extend(["*Her knee bleeds.*", "*Her brow bleeds.*"])
    await world.mio.context_menu(world.channel, "Retell", last(world))
    await world.restart()

    await world.sora.click(last(world), custom_id=ids(last(world))[0])
    assert (last(world).content, buttons(last(world))[1][0]) == ("*Her arm bleeds.*", "1/2")
    assert buttons(last(world))[0] == ("◀", True)
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]

    await world.mio.click(last(world), custom_id=ids(last(world))[2])
    await world.mio.click(last(world), custom_id=ids(last(world))[2])

    assert (last(world).content, buttons(last(world))[1][0]) == ("*Her brow bleeds.*", "3/3")
    assert len(world.server.of("reply")) == 3


async def test_a_longer_telling_takes_more_messages_and_a_shorter_one_fewer(world: World, session: Session) -> None:
    first = last(world)
    world.server.replies.append("word. " * 700)

    await world.mio.context_menu(world.channel, "Retell", first)

    parts = [message for message in world.channel.history() if message.author.display_name == "Rin"]
    assert len(parts) == 3
    assert parts[0].id == first.id
    assert [buttons(part) != [] for part in parts] == [False, False, True]
    (_, turn) = await world.turns(session)
    assert await world.engine.messages_of(turn.id) == tuple(part.id for part in parts)

    await world.mio.click(parts[-1], custom_id=ids(parts[-1])[0])

    assert world.said() == [("Mio", "Are you hurt?"), ("Rin", "*Her arm bleeds.*")]
    assert buttons(last(world))[1] == ("1/2", True)
    assert await world.engine.messages_of(turn.id) == (first.id,)
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]


async def test_without_webhooks_the_bots_own_message_is_edited(world: World) -> None:
    assert world.bot.user is not None
    denied = discord.Permissions(manage_webhooks=True).value
    world.env.backend.set_overwrite(world.channel.id, Overwrite(world.bot.user.id, OverwriteType.MEMBER, 0, denied))
    await world.begin()
    world.server.replies.extend(["First.", "Second."])
    await world.mio.send(world.channel, "One")
    reply = next(m for m in world.channel.history() if m.content == "**Rin**\nFirst.")

    await world.mio.context_menu(world.channel, "Retell", reply)

    (told_anew,) = [m for m in world.channel.history() if m.id == reply.id]
    assert told_anew.content == "**Rin**\nSecond."
    assert buttons(told_anew)[1] == ("2/2", True)


async def test_a_telling_that_discord_refuses_is_not_the_storys(world: World, session: Session) -> None:
    world.env.inject_error("PATCH", "/webhooks/*", status=400, code=50035)
    world.server.replies.append("*Her knee bleeds.*")

    result = await world.mio.context_menu(world.channel, "Retell", last(world))

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("delivery-refused")
    assert last(world).content == "*Her arm bleeds.*"
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]


async def test_a_model_that_fails_is_explained_and_nothing_changes(world: World, session: Session) -> None:
    world.server.replies.append(Script.failure(401))

    result = await world.mio.context_menu(world.channel, "Retell", last(world))

    assert told(result) == world.bot.catalogue.text("model-key")
    assert world.said()[-1] == ("Rin", "*Her arm bleeds.*")
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]
    world.env.errors.clear()


async def test_buttons_of_a_reply_that_something_follows_go_away(world: World, session: Session) -> None:
    world.server.replies.extend(["*Her knee bleeds.*", "Sit down."])
    await world.mio.context_menu(world.channel, "Retell", last(world))
    retold = last(world)
    await world.mio.send(world.channel, "Sit down.")

    result = await world.mio.click(retold, custom_id=ids(retold)[0])

    assert result.followups[-1].content == world.bot.catalogue.text("retell-not-newest")
    assert result.followups[-1].flags.ephemeral
    (now,) = [m for m in world.channel.history() if m.id == retold.id]
    assert (now.content, buttons(now)) == ("*Her knee bleeds.*", [])


async def test_only_players_of_the_scene_and_moderators_may(world: World, session: Session) -> None:
    kai = world.guild.add_member(world.env.create_user("kai"))
    for command in ("Retell", "Continue", "Take back", "Rewind to here"):
        result = await kai.context_menu(world.channel, command, last(world))
        assert told(result) == world.bot.catalogue.text("retell-scene-only")
    simcord.assert_error(world.env, NotAllowed)
    for emoji in ("🔁", "▶️", "↩️"):
        await kai.react(last(world), emoji)
    assert world.said() == [("Mio", "Are you hurt?"), ("Rin", "*Her arm bleeds.*")]
    assert len(world.server.of("reply")) == 1

    world.server.replies.append("*Her knee bleeds.*")
    await world.sora.context_menu(world.channel, "Retell", last(world))
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]
    world.env.errors.clear()
    result = await kai.click(last(world), custom_id=ids(last(world))[0])
    assert told(result) == world.bot.catalogue.text("retell-scene-only")
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]


async def test_the_character_goes_on_when_asked(world: World, session: Session) -> None:
    world.server.replies.append("She limps on.")

    result = await world.mio.context_menu(world.channel, "Continue", last(world))

    assert told(result) == world.bot.catalogue.text("retell-went-on")
    assert world.said()[-1] == ("Rin", "She limps on.")
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*", "She limps on."]


async def test_a_paused_story_is_not_told_otherwise(world: World, session: Session) -> None:
    await world.mio.slash(world.channel, "session stop")
    reply = world.channel.history()[1]
    for command in ("Retell", "Continue"):
        result = await world.mio.context_menu(world.channel, command, reply)
        assert told(result) == world.bot.catalogue.text("retell-paused")
    simcord.assert_error(world.env, Refused)
    assert len(world.server.of("reply")) == 1


async def test_in_a_thread_its_own_messages_are_edited(world: World) -> None:
    world.env.backend.create_thread(world.channel.id, "a side story", world.mio.id)
    thread = world.channel.threads[0]
    session = await world.begin(thread)
    world.server.replies.extend(["First.", "Second."])
    await world.mio.send(thread, "One")
    reply = thread.history()[-1]

    await world.mio.context_menu(thread, "Retell", reply)
    await world.mio.context_menu(thread, "Take back", reply)

    assert "Second." not in [text for _, text in world.said(thread)]
    assert await world.raws(session) == []
    (left,) = await world.rewinding.branches(session.id)
    assert [turn.raw for turn in left.turns] == ["One", "Second."]


async def test_in_a_direct_message_its_person_may(world: World) -> None:
    await world.characters.create(Scope(None, world.mio.id), Card("Yuki", "A friend."), "")
    home = world.mio.user.dm_channel
    await world.mio.user.slash("session start", character="Yuki")
    world.server.replies.extend(["First.", "Second."])
    await world.mio.user.send_dm("Hello?")
    reply = home.history()[-1]

    world.env.backend.set_reaction(home.id, reply.id, "🔁", world.mio.id, True)
    await world.env.settle()

    assert world.said(home)[-1][1] == "**Yuki**\nSecond."
    assert buttons(home.history()[-1])[1] == ("2/2", True)


async def test_taking_back_removes_our_messages_and_marks_the_players(world: World, session: Session) -> None:
    world.server.replies.append("word. " * 700)
    await world.mio.send(world.channel, "Tell me all.")

    result = await world.mio.context_menu(world.channel, "Take back", last(world))

    assert told(result) == world.bot.catalogue.text("retell-taken-back")
    assert world.said() == [("Mio", "Are you hurt?"), ("Rin", "*Her arm bleeds.*"), ("Mio", "Tell me all.")]
    assert [str(reaction.emoji) for reaction in last(world).reactions] == ["↩️"]
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]
    # The deletion of our own messages took no words out of the database.
    (left,) = await world.rewinding.branches(session.id)
    assert [turn.state for turn in left.turns] == [TurnState.ASIDE, TurnState.ASIDE]
    assert left.turns[1].raw == "word. " * 700


async def test_what_was_taken_back_comes_back_with_its_messages(world: World, session: Session) -> None:
    await world.mio.context_menu(world.channel, "Take back", last(world))
    (left,) = await world.rewinding.branches(session.id)

    choices = await world.mio.autocomplete(world.channel, "session branches", "branch", "hurt")
    result = await world.mio.slash(world.channel, "session branches", branch=left.id)

    assert choices == [{"name": f"{left.id} · 2 turns from Mio: Are you hurt?", "value": left.id}]
    assert not result.ephemeral
    assert world.bot.catalogue.text("rewind-returned", turns=2) in told(result)
    assert ("Rin", "*Her arm bleeds.*") in world.said()
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]
    (_, reply) = await world.turns(session)
    assert len(await world.engine.messages_of(reply.id)) == 1
    assert world.channel.history()[0].reactions == []


async def test_reactions_do_the_same(world: World, session: Session) -> None:
    world.server.replies.extend(["*Her knee bleeds.*", "She limps on."])
    reply = last(world)

    await world.mio.react(reply, "🔁")
    assert world.said()[-1] == ("Rin", "*Her knee bleeds.*")
    await world.mio.react(reply, "▶️")
    assert world.said()[-1] == ("Rin", "She limps on.")
    await world.mio.react(last(world), "↩️")

    assert world.said()[-1] == ("Rin", "*Her knee bleeds.*")
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]
    await world.mio.react(last(world), "🎉")
    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]


async def test_a_message_that_the_story_was_rewound_to_waits_for_a_reply(world: World, session: Session) -> None:
    asked = world.channel.history()[0]
    await world.mio.context_menu(world.channel, "Rewind to here", asked)

    refused = await world.mio.context_menu(world.channel, "Retell", asked)
    simcord.assert_error(world.env, Refused)
    world.server.replies.append("*She limps.*")
    await world.mio.context_menu(world.channel, "Continue", asked)

    assert told(refused) == world.bot.catalogue.text("retell-unanswered")
    assert world.said()[-1] == ("Rin", "*She limps.*")
    assert await world.raws(session) == ["Are you hurt?", "*She limps.*"]


async def test_a_reaction_is_answered_by_a_direct_message(world: World, session: Session) -> None:
    await world.mio.react(last(world), "❓")
    await world.mio.react(world.channel.history()[0], "🔁")

    say = world.bot.catalogue.text
    texts = [text for _, text in world.said(world.mio.user.dm_channel)]
    assert texts == [
        say("retell-who-character", seq=2, name="Rin", model="scripted"),
        say("retell-not-newest"),
    ]
    assert len(world.server.of("reply")) == 1


async def test_who_said_this(world: World, session: Session) -> None:
    world.server.replies.append("*Her knee bleeds.*")
    await world.mio.context_menu(world.channel, "Retell", last(world))
    await world.mio.send(world.channel, "((brb))")
    say = world.bot.catalogue.text

    players = await world.sora.context_menu(world.channel, "Who said this?", world.channel.history()[0])
    characters = await world.sora.context_menu(world.channel, "Who said this?", world.channel.history()[1])

    assert players.ephemeral
    assert told(players) == say("retell-who-player", seq=1, player=world.mio.mention, name="Mio")
    assert told(characters).splitlines() == [
        say("retell-who-character", seq=2, name="Rin", model="scripted"),
        say("retell-who-telling", number=2, count=2),
    ]


async def test_a_message_outside_of_every_story_is_nobodys(world: World) -> None:
    await world.mio.send(world.channel, "Hello?")
    result = await world.mio.context_menu(world.channel, "Who said this?", last(world))
    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("retell-no-turn")


@pytest.mark.parametrize("by", ["link", "id", "menu"])
async def test_a_story_is_rewound_to_a_message(world: World, session: Session, by: str) -> None:
    kept = last(world)
    await world.mio.send(world.channel, "Two")
    link = f"https://discord.com/channels/{world.guild.id}/{world.channel.id}/{kept.id}"

    if by == "menu":
        result = await world.mio.context_menu(world.channel, "Rewind to here", kept)
    else:
        result = await world.mio.slash(world.channel, "session rewind", message=link if by == "link" else str(kept.id))

    say = world.bot.catalogue.text
    assert told(result) == say("rewind-done")
    assert last(world).content == say("rewind-announced", by=world.mio.mention, link=link, turns=2)
    assert await world.raws(session) == ["Are you hurt?", "*Her arm bleeds.*"]
    world.server.replies.append("Then?")
    await world.mio.send(world.channel, "Otherwise.")
    assert "Two" not in world.server.of("reply")[-1].prompt


async def test_the_ways_that_were_left_are_listed(world: World, session: Session) -> None:
    say = world.bot.catalogue.text
    none = await world.mio.slash(world.channel, "session branches")
    await world.mio.context_menu(world.channel, "Rewind to here", world.channel.history()[0])
    result = await world.mio.slash(world.channel, "session branches")

    (left,) = await world.rewinding.branches(session.id)
    assert told(none) == say("rewind-branches-none")
    assert result.ephemeral
    assert told(result).splitlines() == [
        say("rewind-branches"),
        "- " + say("rewind-branch", number=left.id, turns=1, name="Rin", excerpt="Her arm bleeds."),
    ]


async def test_a_long_way_is_listed_by_its_beginning(world: World) -> None:
    await world.begin()
    world.server.replies.append("*" + "The ferry turns. " * 10 + "*")
    await world.mio.send(world.channel, "We cross.")
    await world.mio.context_menu(world.channel, "Rewind to here", world.channel.history()[0])

    listed = told(await world.mio.slash(world.channel, "session branches"))

    assert listed.endswith(": " + ("The ferry turns. " * 5)[:80].rstrip() + "…")


async def test_memories_of_a_way_that_was_left_are_not_shown_and_say_why(world: World, session: Session) -> None:
    wound = NewMemory(Content(MemoryKind.EVENT, "Rin was hurt."), (Citation(2, 1),))
    await world.fold(session, [wound])
    await world.mio.context_menu(world.channel, "Rewind to here", world.channel.history()[0])

    everything = await world.mio.slash(world.channel, "memory show")
    history = await world.mio.slash(world.channel, "memory history", number=1)

    say = world.bot.catalogue.text
    assert "hurt" not in shown(everything)
    assert f"{say('by-rewinding')} · {say('status-aside')}" in shown(history)
    result = await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="No.")
    assert told(result) == say("rewind-memory-aside", number=1)
    simcord.assert_error(world.env, Refused)


async def test_a_link_that_is_none_is_refused(world: World, session: Session) -> None:
    result = await world.mio.slash(world.channel, "session rewind", message="yesterday")
    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("retell-no-turn")


async def test_a_set_aside_message_that_its_author_deletes_is_gone_for_good(world: World, session: Session) -> None:
    await world.mio.context_menu(world.channel, "Rewind to here", world.channel.history()[0])
    (left,) = await world.rewinding.branches(session.id)
    await world.mio.slash(world.channel, "session branches", branch=left.id)
    first = world.channel.history()[0]
    await world.mio.send(world.channel, "My secret.")
    secret = next(m for m in world.channel.history() if m.content == "My secret.")
    await world.mio.context_menu(world.channel, "Rewind to here", first)

    await world.mio.delete(secret)

    ways = await world.rewinding.branches(session.id)
    assert "My secret." not in [turn.raw for way in ways for turn in way.turns]


async def test_who_moderates_one_channel_rewinds_no_story_of_another(world: World, session: Session) -> None:
    kai = world.guild.add_member(world.env.create_user("kai"))
    other = world.guild.create_text_channel("else")
    allowed = discord.Permissions(manage_messages=True).value
    world.env.backend.set_overwrite(other.id, Overwrite(kai.id, OverwriteType.MEMBER, allowed, 0))
    kept = world.channel.history()[0]

    result = await kai.slash(other, "session rewind", message=str(kept.id))

    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("retell-no-turn")
    assert len(await world.raws(session)) == 2


async def test_only_players_of_the_scene_and_moderators_see_its_branches(world: World, session: Session) -> None:
    kai = world.guild.add_member(world.env.create_user("kai"))
    await world.mio.context_menu(world.channel, "Take back", last(world))

    result = await kai.slash(world.channel, "session branches")

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("retell-scene-only")
    assert await kai.autocomplete(world.channel, "session branches", "branch", "") == []
    assert len(await world.sora.autocomplete(world.channel, "session branches", "branch", "")) == 1


async def test_limits_hold_for_what_is_asked_for_without_a_message(world: World, session: Session) -> None:
    world.bot.manners = Manners(world.store, world.engine, player_limit=2, guild_limit=0, clock=world.env.now)
    world.server.replies.extend(["*Her knee bleeds.*", "She limps on."])
    await world.mio.context_menu(world.channel, "Retell", last(world))
    first_reply = last(world)
    await world.mio.react(first_reply, "▶️")
    asked = len(world.server.of("reply"))

    for command in ("Retell", "Continue"):
        result = await world.mio.context_menu(world.channel, command, last(world))
        assert told(result).startswith("That was a lot at once.")
    simcord.assert_error(world.env, Refused)
    await world.mio.react(last(world), "▶️")
    assert len(world.server.of("reply")) == asked == 3

    await world.mio.context_menu(world.channel, "Take back", last(world))
    await world.mio.click(first_reply, custom_id=ids(first_reply)[2])
    assert len(world.server.of("reply")) == asked
    await world.mio.click(first_reply, custom_id=ids(first_reply)[0])  # what was told before costs nothing
    assert last(world).content == "*Her arm bleeds.*"
    world.env.errors.clear()


async def test_buttons_of_a_paused_story_change_nothing(world: World, session: Session) -> None:
    world.server.replies.append("*Her knee bleeds.*")
    await world.mio.context_menu(world.channel, "Retell", last(world))
    reply = last(world)
    await world.mio.slash(world.channel, "session stop")

    for button in (0, 2):
        result = await world.mio.click(reply, custom_id=ids(reply)[button])
        assert result.followups[-1].content == world.bot.catalogue.text("retell-paused")

    assert await world.raws(session) == ["Are you hurt?", "*Her knee bleeds.*"]
    assert len(world.server.of("reply")) == 2


async def test_a_character_for_adults_neither_goes_on_nor_tells_anew_in_a_channel_for_all(
    world: World, session: Session
) -> None:
    await world.characters.change(session.character, {}, adult=True)

    for command in ("Retell", "Continue"):
        result = await world.mio.context_menu(world.channel, command, last(world))
        assert told(result) == world.bot.catalogue.text("character-adult", name="Rin")
    simcord.assert_error(world.env, Refused)
    assert len(world.server.of("reply")) == 1


async def test_a_reply_that_is_being_written_says_so(world: World, session: Session) -> None:
    reply = last(world)
    (_, turn) = await world.turns(session)
    await world.mio.send(world.channel, "((brb))")
    begun = await world.store.begin_reply(session.id, world.env.now(), unasked=True)
    assert begun is not None
    await world.engine.delivered(turn.id, world.channel.id, [])
    await world.engine.begun(begun.turn.id, world.channel.id, [reply.id])

    result = await world.mio.context_menu(world.channel, "Retell", reply)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("retell-writing")


async def test_a_story_that_was_removed_meanwhile_does_not_go_on(
    world: World, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def removed(*args: Any, **more: Any) -> None:
        raise LookupError

    monkeypatch.setattr(world.store, "begin_reply", removed)

    result = await world.mio.context_menu(world.channel, "Continue", last(world))

    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("session-unknown")


async def test_what_comes_back_has_its_buttons(world: World, session: Session) -> None:
    world.server.replies.append("*Her knee bleeds.*")
    await world.mio.context_menu(world.channel, "Retell", last(world))
    await world.mio.context_menu(world.channel, "Take back", last(world))
    (left,) = await world.rewinding.branches(session.id)

    await world.mio.slash(world.channel, "session branches", branch=left.id)

    (reply,) = [message for message in world.channel.history() if message.content == "*Her knee bleeds.*"]
    assert buttons(reply)[1] == ("2/2", True)


async def test_what_nobody_answered_loses_its_mark_when_it_comes_back(world: World, session: Session) -> None:
    await world.manners.change(session.id, mode=Mode.SPOKEN_TO)
    await world.mio.send(world.channel, "Nice weather, Sora.")
    message = last(world)
    await world.mio.context_menu(world.channel, "Take back", message)
    assert last(world).reactions != []
    (left,) = await world.rewinding.branches(session.id)

    await world.mio.slash(world.channel, "session branches", branch=left.id)

    (message,) = [m for m in world.channel.history() if m.id == message.id]
    assert message.reactions == []


async def test_on_the_wire_a_reaction_retells_and_a_button_goes_back(parts: Parts) -> None:
    bot = parts.bot()
    async with discord_world() as wire, wire.connected(bot):
        scope = Scope(wire.guild.id, KEEPER)
        await parts.characters.create(scope, RIN, "")
        started = await parts.engine.start_session(Place(wire.guild.id, wire.channel.id), scope, "Rin", greeting=False)
        parts.server.replies.extend(["First.", "Second."])
        mio = wire.add_member("mio")
        await mio.send(wire.channel, "Hello?")
        await eventually(lambda: wire.texts() == ["Hello?", "First."])

        async with bot.lock("answer", started.session.id):
            pass  # the message is tied to its turn once the reply is delivered
        await mio.react(wire.channel.history()[-1], "🔁")
        await eventually(lambda: buttons(wire.channel.history()[-1]))
        assert wire.texts() == ["Hello?", "Second."]

        reply = wire.channel.history()[-1]
        await mio.click(reply, custom_id=ids(reply)[0])
        await eventually(lambda: wire.texts() == ["Hello?", "First."])
        await eventually(lambda: buttons(wire.channel.history()[-1])[1] == ("1/2", True))

        turns = await parts.store.turns(started.session.id, 1, 9)
        assert [turn.raw for turn in turns] == ["Hello?", "First."]
