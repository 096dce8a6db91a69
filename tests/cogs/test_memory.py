"""``/memory``: reading, looking behind, correcting."""

from __future__ import annotations

import pytest
import simcord
from simcord.results import InteractionResult

from bot.errors import NotAllowed, NotFound, Refused
from bot.memory.memories import Content, MemoryKind, MemoryStatus, NewMemory
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope, Session
from bot.memory.turns import Citation
from tests.cogs.conftest import World, told

LIE = "The bridge burnt down."
MEMORIES = (
    NewMemory(Content(MemoryKind.FACT, LIE), (Citation(2, 1),)),
    NewMemory(
        Content(MemoryKind.SECRET, "Rin smiles", "Rin", actual="She is afraid"), (Citation(2, 1), Citation(2, 2))
    ),
    NewMemory(Content(MemoryKind.QUOTE, "The bridge burnt down.", "Rin"), (Citation(2, 1),)),
)


@pytest.fixture
async def session(world: World) -> Session:
    """A story in which Rin told a lie that was folded as a fact, memory 1."""
    begun = await world.begin()
    world.server.replies.append("“The bridge burnt down.” `It did not.`")
    await world.mio.send(world.channel, "How do I cross?")
    await world.fold(begun, MEMORIES)
    return begun


def page(result: InteractionResult) -> str:
    assert result.response is not None
    return result.response.embeds[0].description or ""


def shown(result: InteractionResult) -> str:
    """The embeds that answered, whichever way."""
    answers = [result.response, *result.followups]
    return "\n".join(e.description or "" for answer in answers if answer is not None for e in answer.embeds)


async def test_the_memory_is_shown_to_the_person_alone(world: World, session: Session) -> None:
    result = await world.mio.slash(world.channel, "memory show")

    assert result.ephemeral
    assert page(result).splitlines() == [
        "**Chapter 1 (turns 1–2)**",
        "`#1` ✔ The bridge burnt down.",
        "`#2` 🎭 Rin smiles",
        "",
        "**Quotes**",
        "`#3` ❝ Rin: The bridge burnt down.",
        "",
        "Everything so far is in the memories above.",
    ]
    assert "afraid" not in page(result)


async def test_pages_are_turned_by_buttons(world: World, session: Session) -> None:
    await world.mio.send(world.channel, "And then?")
    many = [NewMemory(Content(MemoryKind.EVENT, f"Event {n}. " + "word " * 60), (Citation(3, 1),)) for n in range(40)]
    await world.fold(session, many)

    first = await world.mio.slash(world.channel, "memory show")
    assert first.response is not None
    buttons = first.response.components[0]["components"]
    await world.mio.click(first.response, custom_id=buttons[1]["custom_id"])
    second = page(first)
    last = await world.mio.slash(world.channel, "memory show", page=999)

    assert [button.get("disabled", False) for button in buttons] == [True, False]
    assert "`#1` " not in second
    assert "**Chapter 2" in second
    assert "`#3` ❝" in page(last)


async def test_where_no_story_was_ever_told_the_way_to_one_is_shown(world: World) -> None:
    result = await world.mio.slash(world.channel, "memory show")

    simcord.assert_error(world.env, NotFound)
    assert "/session start" in told(result)


async def test_a_moderator_corrects_a_lie_and_the_next_prompt_has_it(world: World, session: Session) -> None:
    result = await world.sora.slash(
        world.channel, "memory correct", number=1, what="said_not_true", reason="Rin lied to Mio."
    )
    await world.mio.send(world.channel, "Where is the bridge?")

    memory = (await world.store.memory(session.id)).get(1)
    assert memory is not None
    assert memory.content == Content(MemoryKind.CLAIM, LIE, "Rin")
    assert memory.corrected
    assert result.ephemeral
    assert shown(result).splitlines() == [
        "~~`#1` ✔ The bridge burnt down.~~",
        "`#1` 💬 Rin said: The bridge burnt down. ✎",
    ]
    detail = await world.engine.detail(session.id, 1)
    assert (detail.history[-1].by, detail.history[-1].reason) == (str(world.sora.id), "Rin lied to Mio.")
    assert "Rin" in world.server.of("reply")[-1].prompt


async def test_what_the_command_leaves_open_is_asked_in_a_form(world: World, session: Session) -> None:
    form = await world.sora.slash(world.channel, "memory correct", number=1, what="edit")
    assert form.modal is not None
    evidence, *labels = form.modal["components"]
    fields = [label["component"] for label in labels]
    result = await world.sora.submit_modal(form, {"text": "The bridge stands.", "reason": "Mio saw it."})

    messages = [m.id for m in world.channel.history()]
    link = f"https://discord.com/channels/{world.guild.id}/{world.channel.id}/{messages[1]}"
    assert evidence["content"] == f"**What it rests on**\n[Turn 2]({link}) **Rin** The bridge burnt down."
    assert [field["custom_id"] for field in fields] == ["text", "reason"]
    assert fields[0]["value"] == LIE
    memory = (await world.store.memory(session.id)).get(1)
    assert memory is not None
    assert memory.content.text == "The bridge stands."
    assert "`#1` ✔ The bridge stands. ✎" in shown(result)
    assert (await world.engine.detail(session.id, 1)).history[-1].reason == "Mio saw it."


async def test_only_the_reason_is_asked_when_only_it_is_missing(world: World, session: Session) -> None:
    form = await world.sora.slash(world.channel, "memory correct", number=1, what="retract")
    assert form.modal is not None
    assert [item["component"]["custom_id"] for item in form.modal["components"][1:]] == ["reason"]

    await world.sora.submit_modal(form, {"reason": "Never happened."})
    listed = await world.sora.slash(world.channel, "memory show")
    await world.sora.slash(world.channel, "memory correct", number=1, what="restore", reason="It did.")
    again = await world.sora.slash(world.channel, "memory show")

    assert "`#1`" not in page(listed)
    assert "`#1` ✔ The bridge burnt down." in page(again)


async def test_a_player_is_kindly_refused(world: World, session: Session) -> None:
    before = await world.store.memory(session.id)

    result = await world.mio.slash(world.channel, "memory correct", number=1, what="retract", reason="I say so.")

    simcord.assert_error(world.env, NotAllowed)
    assert result.ephemeral
    assert told(result) == world.bot.catalogue.text("moderators-only")
    assert await world.store.memory(session.id) == before


async def test_a_correction_that_makes_no_sense_says_why(world: World, session: Session) -> None:
    result = await world.sora.slash(
        world.channel, "memory correct", number=3, what="edit", text="Another bridge.", reason="Better."
    )
    unknown = await world.sora.slash(world.channel, "memory correct", number=99, what="retract", reason="Gone.")

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("correction-quote-is-verbatim", number=3)
    assert told(unknown) == world.bot.catalogue.text("memory-unknown", number=99)


async def test_a_form_that_fails_answers_too(world: World, session: Session) -> None:
    form = await world.sora.slash(world.channel, "memory correct", number=1, what="retract")
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="First.")

    result = await world.sora.submit_modal(form, {"reason": "Second."})

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("correction-changes-nothing", number=1)


async def test_the_history_names_who_when_why_and_the_turns_behind_it(world: World, session: Session) -> None:
    await world.sora.slash(world.channel, "memory correct", number=1, what="said_not_true", reason="Rin *lied*.")

    result = await world.mio.slash(world.channel, "memory history", number=1)

    text = page(result)
    reply = world.channel.history()[-1]
    assert result.ephemeral
    assert "noted by folding\n✔ The bridge burnt down." in text
    assert f"<@{world.sora.id}>\n> Rin \\*lied\\*.\n💬 Rin said: The bridge burnt down." in text
    assert text.count("<t:") == 2
    link = f"https://discord.com/channels/{world.guild.id}/{world.channel.id}/{reply.id}"
    assert f"[Turn 2]({link}) **Rin** The bridge burnt down." in text
    assert "It did not" not in text


async def test_numbers_are_offered_by_text(world: World, session: Session) -> None:
    choices = await world.sora.autocomplete(world.channel, "memory history", "number", "smiles")

    assert choices == [{"name": "#2 🎭 Rin smiles", "value": 2}]


async def test_another_channel_knows_nothing_of_it(world: World, session: Session) -> None:
    other = world.guild.create_text_channel("other")

    result = await world.sora.slash(other, "memory show")
    choices = await world.sora.autocomplete(other, "memory history", "number", "")

    simcord.assert_error(world.env, NotFound)
    assert "bridge" not in told(result) + shown(result)
    assert choices == []


async def test_in_a_direct_message_the_person_corrects_their_own_story(world: World) -> None:
    home = world.mio.user.dm_channel
    scope = Scope(None, world.mio.id)
    await world.characters.create(scope, Card("Yuki", "A friend."), "")
    started = await world.engine.start_session(Place(None, home.id), scope, "Yuki", greeting=False)
    await world.mio.user.send_dm("Hello?")
    await world.fold(started.session, [NewMemory(Content(MemoryKind.FACT, "It rained."), (Citation(2, 1),))])

    result = await world.mio.user.slash("memory correct", number=1, what="retract", reason="It was dry.")
    history = await world.mio.user.slash("memory history", number=1)

    memory = (await world.store.memory(started.session.id)).get(1)
    assert memory is not None
    assert not memory.is_active
    assert "~~`#1` ✔ It rained.~~" in shown(result)
    assert f"https://discord.com/channels/@me/{home.id}/" in page(history)

    assert history.response is not None
    await world.mio.user.click(history.response, label="Undo")
    memory = (await world.store.memory(started.session.id)).get(1)
    assert memory is not None
    assert memory.is_active


async def test_a_number_opens_its_page_and_a_kind_filters(world: World, session: Session) -> None:
    await world.mio.send(world.channel, "And then?")
    many = [NewMemory(Content(MemoryKind.EVENT, f"Event {n}. " + "word " * 60), (Citation(3, 1),)) for n in range(40)]
    await world.fold(session, many)
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="No.")

    jumped = await world.mio.slash(world.channel, "memory show", number=40)
    facts = await world.mio.slash(world.channel, "memory show", kind="fact")
    quotes = await world.mio.slash(world.channel, "memory show", kind="quote", number=3)
    retracted = await world.mio.slash(world.channel, "memory show", number=1)
    unknown = await world.mio.slash(world.channel, "memory show", number=99)

    simcord.assert_error(world.env, NotFound)
    assert "`#40` " in page(jumped)
    assert "`#2` " not in page(jumped)
    assert page(facts) == "There's no memory of this kind."
    assert page(quotes).splitlines()[:2] == ["**Quotes**", "`#3` ❝ Rin: The bridge burnt down."]
    assert told(retracted) == world.bot.catalogue.text("memory-not-shown", number=1)
    assert told(unknown) == world.bot.catalogue.text("memory-unknown", number=99)


async def test_what_rests_on_a_deleted_message_is_shown_nowhere(world: World, session: Session) -> None:
    form = await world.sora.slash(world.channel, "memory correct", number=1, what="edit", text="Not so.", reason="No.")
    assert form.modal is None
    await world.env.settle()
    await world.sora.delete(world.channel.history()[1])

    history = await world.sora.slash(world.channel, "memory history", number=2)
    edit = await world.sora.slash(world.channel, "memory correct", number=2, what="edit")
    listed = await world.mio.slash(world.channel, "memory show")
    offered = await world.mio.autocomplete(world.channel, "memory history", "number", "smiles")
    exact = await world.mio.autocomplete(world.channel, "memory history", "number", "2")

    memory = (await world.store.memory(session.id)).get(2)
    assert memory is not None
    assert memory.status is MemoryStatus.STALE
    assert page(history).startswith("`#2` 🎭 *(out of sight: a message it rests on was changed)*")
    assert "smiles" not in page(history) + str(edit.modal) + page(listed)
    assert offered == []
    assert exact == [{"name": "#2 🎭 …", "value": 2}]
    assert "3 memories are out of sight" in page(listed)
