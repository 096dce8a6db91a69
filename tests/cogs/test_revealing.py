"""Who may see what: a secret's actual side is for moderators, each time on purpose, and that they looked is logged."""

from __future__ import annotations

import logging

import pytest
import simcord

from bot.errors import NotAllowed, Refused
from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.story import Session
from bot.memory.turns import Citation
from tests.cogs.conftest import World, told
from tests.cogs.moderated import answered, labels, shown, tell_a_lie, words


@pytest.fixture
async def session(world: World) -> Session:
    return await tell_a_lie(world)


async def test_a_moderator_reveals_by_the_option(
    world: World, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "bot.moderation"):
        result = await world.sora.slash(world.channel, "memory history", number=2, reveal=True)

    assert result.ephemeral
    assert shown(result) == "`#2` 🎭 Rin smiles\nActually: She is afraid"
    assert caplog.messages == [
        f"session {session.id} memory 2: what is hidden was revealed to a moderator",
    ]


async def test_a_moderator_reveals_by_the_button(world: World, session: Session) -> None:
    history = await world.sora.slash(world.channel, "memory history", number=2)
    assert history.response is not None
    assert "afraid" not in shown(history)
    assert labels(history.response) == ["Reveal"]

    result = await world.sora.click(history.response, label="Reveal")

    assert result.ephemeral
    assert "Actually: She is afraid" in words(answered(result))
    assert "afraid" not in words(history.response)


async def test_a_player_gets_neither_button_nor_answer(world: World, session: Session) -> None:
    history = await world.mio.slash(world.channel, "memory history", number=2)
    refused = await world.mio.slash(world.channel, "memory history", number=2, reveal=True)

    simcord.assert_error(world.env, NotAllowed)
    assert history.response is not None
    assert labels(history.response) == []
    assert told(refused) == world.bot.catalogue.text("moderators-only")
    assert "afraid" not in shown(history) + shown(refused)


async def test_where_nothing_is_hidden_nothing_is_revealed(world: World, session: Session) -> None:
    result = await world.sora.slash(world.channel, "memory history", number=1, reveal=True)

    simcord.assert_error(world.env, Refused)
    assert told(result) == world.bot.catalogue.text("reveal-nothing", number=1)


async def test_what_only_a_thought_shows_is_revealed_too_and_no_form_shows_it(world: World, session: Session) -> None:
    await world.mio.send(world.channel, "And now?")
    private = NewMemory(Content(MemoryKind.FACT, "Rin failed twice.", "Rin", private=True), (Citation(3, 1),))
    await world.fold(session, [private])

    result = await world.sora.slash(world.channel, "memory history", number=4, reveal=True)
    form = await world.sora.slash(world.channel, "memory correct", number=4, what="edit")
    player = await world.mio.slash(world.channel, "memory show", number=4)

    assert "Rin failed twice." in shown(result)
    assert "failed" not in str(form.modal)
    assert "failed" not in shown(player)
