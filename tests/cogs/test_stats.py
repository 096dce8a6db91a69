"""``/memory stats``: figures and a picture for moderators, in their own language."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO

import discord
import pytest
import simcord
from PIL import Image
from sqlalchemy import delete

from bot.catalogue import Catalogue
from bot.errors import NotAllowed, NotFound
from bot.memory.memories import Content, MemoryKind, NewMemory
from bot.memory.story import FoldKind, FoldState, Session
from bot.memory.turns import Citation
from bot.store import Call
from bot.store.tables import calls
from cogs._lines import bound
from cogs._stats_numbers import number
from cogs._stats_report import stats_embed
from tests.cogs.conftest import World, speak, told
from tests.cogs.moderated import LIE, answered, tell_a_lie

SIZE = (720, 468)


async def asked(
    world: World, session: Session, prompt: int, cached: int, epoch: int, *, purpose: str = "reply", rejection: str = ""
) -> None:
    await world.store.record_calls(Call(
        purpose, session.id, "small", prompt, cached, 40, "stop", 1, 3_400, world.env.now(),
        waited_milliseconds=100, interruptions=0, rejection=rejection or None, epoch=epoch, forced_cuts=0,
    ))  # fmt: skip


@pytest.fixture
async def session(world: World) -> Session:
    """A story with a fold, a correction, a report and three replies on record."""
    session = await tell_a_lie(world)
    # What the lie itself cost depends on the machine.
    async with world.store._database.write() as connection:
        await connection.execute(delete(calls))
    epoch = (await world.engine.session(session.id)).epoch
    await asked(world, session, 1_000, 0, epoch - 1)
    await asked(world, session, 1_100, 990, epoch - 1)
    await asked(world, session, 600, 60, epoch)
    await asked(world, session, 5_000, 0, 0, purpose="fold", rejection="refused")
    await world.store.request_fold(session.id, FoldKind.FOLD, world.env.now())
    (fold,) = await world.store.due_folds(world.env.now())
    await world.store.claim_fold(fold.id, world.env.now())
    await world.store.finish_fold(fold.id, world.env.now() + timedelta(seconds=27))
    await world.sora.slash(world.channel, "memory correct", number=1, what="retract", reason="A lie.")
    await world.mio.slash(world.channel, "memory flag", number=3, why="She lied.")
    return session


def fields(embed: discord.Embed) -> dict[str, str]:
    return {field.name or "": field.value or "" for field in embed.fields}


@pytest.mark.parametrize(
    ("figure", "words"),
    [(0, "0"), (0.04, "0"), (0.26, "0.3"), (1, "1"), (1.96, "2"), (9.94, "9.9"), (12.3, "12"), (1_234.5, "1,234")],
)
def test_a_figure_has_no_more_digits_than_it_needs(figure: float, words: str) -> None:
    assert number(figure) == words


async def test_a_player_is_refused(world: World, session: Session) -> None:
    result = await world.mio.slash(world.channel, "memory stats")

    simcord.assert_error(world.env, NotAllowed)
    assert told(result) == world.bot.catalogue.text("moderators-only")
    assert result.ephemeral


async def test_where_no_story_is_that_is_said(world: World) -> None:
    result = await world.sora.slash(world.channel, "memory stats")

    simcord.assert_error(world.env, NotFound)
    assert told(result) == world.bot.catalogue.text("session-none")


async def test_a_moderator_sees_the_figures_and_the_picture(world: World, session: Session) -> None:
    result = await world.sora.slash(world.channel, "memory stats")

    answer = answered(result)
    (embed,), (file,) = answer.embeds, answer.attachments
    shown = fields(embed)
    assert result.ephemeral
    assert embed.title == "Figures of the story with Rin"
    assert shown["The story"].splitlines() == [
        "2 turns, one of them a reply",
        "One chapter: 2 turns each (median), 2 in the longest",
    ]
    assert shown["Folding"] == "Turns to a chapter: 1 done, 0 open, 0 given up · 27 s (median), 27 s at most"
    assert shown["Replies"].splitlines() == [
        "Writing: 3.4 s (median), 3.4 s at most",
        "Waiting for the model: 0.1 s (median), 0.1 s at most",
    ]
    assert shown["Prompts reused"].splitlines() == [
        "38.9 % of all replies' tokens",
        "90.0 % on ordinary turns, before which nothing changed the memory",
    ]
    assert shown["Tokens computed and written"] == "Chapters 5,040 · Replies 1,770"
    assert shown["Answers of no use"] == "Chapters: refused 1"
    assert shown["Corrections"].splitlines() == [
        "One change by moderators, none of them undoing another",
        "Reports: 1 open, 0 decided",
    ]
    assert "Requests without an answer" not in shown
    assert LIE not in str(embed.to_dict())
    assert embed.image.url == f"attachment://{file.filename}"
    with Image.open(BytesIO(await file.read())) as picture:
        assert (picture.format, picture.size) == ("PNG", SIZE)


async def test_before_the_first_reply_there_are_words_and_no_picture(world: World) -> None:
    await world.begin()

    answer = answered(await world.sora.slash(world.channel, "memory stats"))

    (embed,) = answer.embeds
    assert answer.attachments == []
    assert embed.image.url is None
    assert embed.footer.text == "No reply's prompt is on record yet, so there is no picture."
    shown = fields(embed)
    assert shown["The story"] == "0 turns, 0 of them replies"
    assert list(shown) == ["The story", "The memory in prompts", "Forced cuts", "Corrections"]


@pytest.mark.parametrize("locale", ["ja", "zh-CN", "zh-TW"])
async def test_figures_and_picture_are_in_the_readers_language(
    world: World, session: Session, locale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    speak(monkeypatch, locale)
    say = bound(Catalogue().text, locale)

    answer = answered(await world.sora.slash(world.channel, "memory stats"))

    (embed,), (file,) = answer.embeds, answer.attachments
    assert embed.title == say("stats-title", name="Rin")
    assert fields(embed)[say("stats-unusable")].endswith(f"{say('stats-code-refused')} 1")
    assert not any("a" <= letter <= "z" for letter in "".join(fields(embed)).replace("token", ""))
    with Image.open(
        BytesIO(await file.read())
    ) as picture:  # a letter without a glyph would be a warning, and so an error
        assert picture.size == SIZE


async def test_whatever_goes_wrong_has_words_or_is_shown_by_its_code(world: World) -> None:
    session = await world.begin()
    await asked(world, session, 10, 5, 0, purpose="audit", rejection="not_json")
    for outcome in ("model-busy", "model-newly-invented"):
        await world.store.record_calls(
            Call("reply", session.id, "small", None, None, None, outcome, 1, 5, world.env.now())
        )
    for attempt in range(2):
        await world.store.request_fold(session.id, FoldKind.AUDIT, world.env.now())
        (fold,) = await world.store.due_folds(world.env.now())
        await world.store.claim_fold(fold.id, world.env.now())
        again = world.env.now() if attempt == 0 else None
        await world.store.fail_fold(fold.id, "not_json", retry_at=again, now=world.env.now())

    story = await world.bot.statistics.story(session.id)
    shown = fields(stats_embed(story, session, world.bot.catalogue, discord.Locale.american_english))

    assert shown["Answers of no use"] == "Looking over: not in the form asked for 1"
    assert shown["Requests without an answer"] == "Replies: queue full 1 · model-newly-invented 1"
    assert shown["Folding"].splitlines() == [
        "Chapters looked over: 0 done, 0 open, 1 given up",
        "2 tries came to nothing; each is repeated, a few times at most.",
    ]
    assert story.figures.folds == {FoldKind.AUDIT: {FoldState.FAILED: 1}}
    assert (story.points, story.figures.reports) == ((), {})


async def test_lines_are_told_by_their_kind(world: World, session: Session) -> None:
    lines = [
        NewMemory(Content(MemoryKind.EVENT, "They crossed."), (Citation(2, 1),)),
        NewMemory(Content(MemoryKind.LOOSE_END, "Who burnt it?"), (Citation(2, 1),)),
    ]
    await world.mio.send(world.channel, "We cross.")
    await world.fold(session, lines)

    shown = fields(answered(await world.sora.slash(world.channel, "memory stats")).embeds[0])

    assert shown["The memory in prompts"].splitlines()[1] == "• 1  🎭 1  ❓ 1  ❝ 1"
