"""A fold that was given up is told to the moderators, once, also when it happened before Discord was connected."""

from __future__ import annotations

from bot.memory.story import Fold, FoldKind, FoldState, Session
from tests.cogs.conftest import World
from tests.cogs.moderated import log_channel, words


def given_up(world: World, session: Session, kind: FoldKind, chapter: int | None = None) -> Fold:
    return Fold(9, session.id, kind, FoldState.FAILED, world.env.now(), 3, "no-shrink", chapter)


async def give_up(world: World, fold: Fold) -> None:
    with world.env._bot_scope():
        await world.bot.fold_given_up(fold)
    await world.env.settle()


async def test_the_log_says_what_failed_and_where(world: World) -> None:
    session = await world.begin()
    log = await log_channel(world)

    await give_up(world, given_up(world, session, FoldKind.MAJOR))
    await give_up(world, given_up(world, session, FoldKind.REFOLD, 4))

    first, second = log.history()
    assert first.embeds[0].title == "Part of the memory couldn't be folded"
    assert words(first).splitlines() == [
        world.bot.catalogue.text("failed-major", chapter=0),
        f"<#{world.channel.id}> · `no-shrink`",
    ]
    assert words(second).startswith("Chapter 4 couldn't be written anew")
    assert world.bot.given_up == []


async def test_what_failed_while_discord_was_away_is_told_later_and_once(world: World) -> None:
    session = await world.begin()
    log = await log_channel(world)
    world.bot.given_up.append(given_up(world, session, FoldKind.FOLD))

    with world.env._bot_scope():
        world.bot.dispatch("ready")
        world.bot.dispatch("ready")
    await world.env.settle()

    assert [words(m).splitlines()[0] for m in log.history()] == [world.bot.catalogue.text("failed-fold", chapter=0)]


async def test_without_a_log_channel_nobody_is_disturbed(world: World) -> None:
    session = await world.begin()

    await give_up(world, given_up(world, session, FoldKind.FOLD))

    assert world.channel.history() == []
