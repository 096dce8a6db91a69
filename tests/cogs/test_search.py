"""``/memory search``: for everybody, in all three languages, never a thought."""

from __future__ import annotations

import pytest
import simcord
from simcord.results import InteractionResult

from bot.errors import NotFound
from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.story import Session
from bot.memory.turns import Citation
from tests.cogs.conftest import World, told


@pytest.fixture
async def session(world: World) -> Session:
    """A story with a secret, and with something said in each language."""
    begun = await world.begin()
    world.server.replies.append("“The *bridge* burnt down.” `It did not, opium did.`")
    await world.mio.send(world.channel, "How do I cross the bridge?")
    secret = Content(MemoryKind.SECRET, "Rin mourns the bridge", "Rin", actual="Rin sells opium")
    private = Content(MemoryKind.FACT, "Rin fears the bridge of sighs", private=True)
    cited = (Citation(2, 1),)
    await world.fold(begun, [NewMemory(secret, cited), NewMemory(private, cited)])
    for message, reply in (("鍵は灯台の裏ですか？", "「鍵はない」"), ("银钥匙在灯塔吗？", "“没有钥匙。”")):
        world.server.replies.append(reply)
        await world.mio.send(world.channel, message)
    return begun


def _page(result: InteractionResult) -> str:
    assert result.response is not None
    return result.response.embeds[0].description or ""


async def test_memories_and_turns_are_found_with_links_and_shown_to_the_person_alone(
    world: World, session: Session
) -> None:
    result = await world.mio.slash(world.channel, "memory search", words="bridge")

    asked, answered = world.channel.history()[:2]
    home = f"https://discord.com/channels/{world.guild.id}/{world.channel.id}"
    assert result.ephemeral
    memories, turns = _page(result).split("**Turns**\n")
    assert memories == "**Memories**\n`#1` 🎭 Rin mourns the bridge\n"
    second, first = turns.splitlines()
    assert second.startswith(f"[Turn 2]({home}/{answered.id}) · <t:")
    assert second.endswith("**Rin** The \\*bridge\\* burnt down.")
    assert first.startswith(f"[Turn 1]({home}/{asked.id}) · <t:")
    assert first.endswith("**Mio** How do I cross the bridge?")


@pytest.mark.parametrize("words", ["opium", "sighs", "the", "???"])
async def test_thoughts_actual_sides_and_private_lines_are_not_found(
    world: World, session: Session, words: str
) -> None:
    result = await world.sora.slash(world.channel, "memory search", words=words)

    assert _page(result) == world.bot.catalogue.text("search-nothing")


@pytest.mark.parametrize(("words", "turns"), [("鍵", [4, 3]), ("灯台の裏", [3]), ("钥匙", [6, 5]), ("灯塔", [5])])
async def test_japanese_and_chinese_are_found_by_any_part(
    world: World, session: Session, words: str, turns: list[int]
) -> None:
    lines = _page(await world.mio.slash(world.channel, "memory search", words=words)).splitlines()[1:]

    assert [int(line.removeprefix("[Turn ").partition("]")[0]) for line in lines] == turns


async def test_many_hits_are_paged(world: World, session: Session) -> None:
    filler = "word " * 40
    many = [NewMemory(Content(MemoryKind.EVENT, f"Zeppelin {n}: {filler}"), (Citation(3, 1),)) for n in range(40)]
    await world.fold(session, many)

    result = await world.mio.slash(world.channel, "memory search", words="zeppelin")
    assert result.response is not None
    first = _page(result)
    buttons = result.response.components[0]["components"]
    await world.mio.click(result.response, custom_id=buttons[1]["custom_id"])
    second = _page(result)

    assert 0 < len(first) <= 4_096
    assert {line.partition(" ")[0] for line in first.splitlines()[1:]}.isdisjoint(
        line.partition(" ")[0] for line in second.splitlines()
    )
    assert second.startswith("`#")


async def test_a_deleted_message_is_not_found(world: World, session: Session) -> None:
    message = await world.mio.send(world.channel, "((nothing)) The gramophone is mine.")
    assert "gramophone" in _page(await world.mio.slash(world.channel, "memory search", words="gramophone"))

    await world.engine.messages_deleted([message.id])

    result = await world.mio.slash(world.channel, "memory search", words="gramophone")
    assert _page(result) == world.bot.catalogue.text("search-nothing")


async def test_another_channel_finds_nothing_of_it(world: World, session: Session) -> None:
    other = world.guild.create_text_channel("other")

    result = await world.mio.slash(other, "memory search", words="bridge")

    simcord.assert_error(world.env, NotFound)
    assert "bridge" not in told(result)
