"""Several characters in a session, on real parts: who answers as whom, and what each of them is told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.engine import Reply
from bot.errors import NotFound, Refused
from bot.export import as_markdown
from bot.memory.manners import Mode
from bot.memory.memories import Content, MemoryKind, NewMemory, SessionMemory
from bot.memory.policy import Stretch
from bot.memory.prompt import Card
from bot.memory.story import Head, Scope
from bot.memory.turns import Citation, PlayerMessage
from tests.support.model_server import ModelServer
from tests.support.scene import CHANNEL, MIO, Scene, open_scene

SCOPE = Scope(1, 9)
BROM = Card("Brom", "{{char}} cooks and never lies.", "“Soup?” `Too thin.`", nickname="Bo")


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer() as server, open_scene(server, tmp_path / "k.db") as opened:
        yield opened


async def join(scene: Scene, card: Card = BROM, *, greeting: int | None = None, adult: bool = False) -> Reply | None:
    """Another character joins; what it says first."""
    await scene.core.characters.create(SCOPE, card, "", adult=adult)
    casting = scene.core.engine.casting
    joined = await casting.add(scene.session.id, SCOPE, card.name, greeting=greeting, for_adults=adult)
    assert joined.member.character.card.name == card.name
    return Reply(joined.session, joined.greeting, "") if joined.greeting else None


async def ask(scene: Scene, text: str, answer: str = "“Aye.”") -> Reply:
    """A message and its reply; who gives it is for the engine to say."""
    return await scene.exchange(text, answer)


async def fold(scene: Scene, last: int, *found: NewMemory) -> None:
    """One more chapter, up to the turn ``last``."""
    store, session_id = scene.core.store, scene.session.id
    first = (await store.memory(session_id)).folded_to + 1
    revisions = {turn.seq: turn.revision for turn in await store.turns(session_id, first, last)}
    render = scene.core.renderer.for_session(scene.session, scene.core.engine.budgets)
    assert await store.commit_chapter(
        None, session_id, Stretch(first, last), revisions, found, {}, by="fold", at=scene.clock(), render=render
    )


def empty(memory: SessionMemory) -> Head:
    """A head from which everything had to leave."""
    assert memory.voices is not None
    return Head("[]", 1, tuple((viewer.character_id, Head("[]", 1)) for viewer in memory.voices.viewers[1:]))


def fact(text: str, *cites: str, actual: str = "") -> NewMemory:
    found = tuple(citation for cite in cites if (citation := Citation.parse(cite)))
    kind = MemoryKind.SECRET if actual else MemoryKind.FACT
    return NewMemory(Content(kind, text, "Rin" if actual else "", actual=actual), found)


async def test_each_answers_as_itself_with_its_own_prompt(scene: Scene) -> None:
    await ask(scene, "Hello.", "“Welcome.” `A fool.`")
    await join(scene)
    first = await ask(scene, "Brom, are you there?", "“Stirring.” `Burnt again.`")
    second = await ask(scene, "Rin, is he?", "“He is.” `Sadly.`")
    assert [(r.character.card.name, r.turn.author.name) for r in (first, second)] == [("Brom", "Brom"), ("Rin", "Rin")]
    assert first.text == "“Stirring.”"
    to_brom, to_rin = scene.prompts()[-2:]
    assert "Bo cooks and never lies." in to_brom
    assert "ferry pilot" not in to_brom
    assert "Hello." not in to_brom, "what was before it joined"
    assert "Welcome" not in to_brom
    assert "Brom: “Stirring.”" in to_rin
    assert "Burnt again" not in to_rin
    assert "`A fool.`" in to_rin, "its own replies stand byte for byte"
    assert to_rin.startswith(scene.prompts()[0].rstrip("\n").removesuffix("Mio: Hello."))


async def test_who_joins_may_greet_and_the_players_are_still_answered(scene: Scene) -> None:
    greeted = await join(scene, greeting=0)
    assert greeted is not None
    assert greeted.character.card.name == "Brom"
    await ask(scene, "Rin, who is that?")
    assert "Brom: “Soup?”" in scene.prompts()[-1]
    assert "Too thin" not in scene.prompts()[-1]


async def test_another_who_is_named_answers_too_but_the_players_go_first(scene: Scene) -> None:
    await join(scene)
    engine = scene.core.engine
    assert not await engine.goes_on(scene.session.id)
    assert (await ask(scene, "Rin?", "“Ask Brom.”")).character.card.name == "Rin"
    assert await engine.goes_on(scene.session.id)
    await scene.hear("Wait, Rin!")
    assert not await engine.goes_on(scene.session.id)
    scene.server.replies.append("“Well?”")
    assert (await scene.reply()).character.card.name == "Rin"
    await ask(scene, "Rin?", "“Ask Brom, I said.”")
    scene.server.replies.append("“Me? Ask Rin.”")
    reply = await engine.reply(scene.session.id, unasked=True)
    assert reply is not None
    assert reply.character.card.name == "Brom"
    assert "Rin: “Ask Brom, I said.”" in scene.prompts()[-1]
    assert not await engine.goes_on(scene.session.id), "two in a row are enough"


async def test_a_reply_to_a_message_speaks_to_its_author(scene: Scene) -> None:
    await join(scene)
    await ask(scene, "Brom!", "“Here.”")
    of_brom = scene.written
    await ask(scene, "Rin!", "“Here too.”")
    scene.written += 1
    message = PlayerMessage(scene.written, CHANNEL, MIO, "Mio", "And you?", scene.clock(), reply_to=of_brom)
    await scene.core.engine.hear(message)
    scene.server.replies.append("“Well.”")
    assert (await scene.reply()).character.card.name == "Brom"


async def test_each_members_name_asks_for_an_answer(scene: Scene) -> None:
    await join(scene)
    await scene.core.manners.change(scene.session.id, mode=Mode.SPOKEN_TO)
    heard = []
    for text in ("Nice weather.", "Is Bo around?", "Rin!"):
        scene.written += 1
        message = PlayerMessage(scene.written, CHANNEL, MIO, "Mio", text, scene.clock())
        found = await scene.core.engine.hear(message)
        assert found is not None
        heard.append(found.is_answered)
    assert heard == [False, True, True]


async def test_a_reply_is_told_anew_by_its_own_author(scene: Scene) -> None:
    await join(scene)
    reply = await ask(scene, "Brom!", "“Here.” `Tired.`")
    before = scene.prompts()[-1]
    scene.server.replies.append("“Not here.”")
    told = await scene.core.engine.retell(scene.session.id, reply.turn.id)
    assert (told.character.card.name, told.turn.author.name, told.text) == ("Brom", "Brom", "“Not here.”")
    assert scene.prompts()[-1] == before
    await scene.core.engine.casting.remove(scene.session.id, "brom")
    with pytest.raises(Refused) as refused:
        await scene.core.engine.retell(scene.session.id, reply.turn.id)
    assert (refused.value.code, refused.value.fields) == ("cast-gone", {"name": "Brom"})
    again = await scene.core.engine.choose_telling(scene.session.id, reply.turn.id, 1)
    assert (again.character.card.name, again.text) == ("Brom", "“Here.”")


async def test_who_left_answers_no_more(scene: Scene) -> None:
    await join(scene)
    await scene.hear("Brom!")
    await scene.core.engine.casting.remove(scene.session.id, "Brom")
    scene.server.replies.append("“He left.”")
    assert (await scene.reply()).character.card.name == "Rin"
    with pytest.raises(NotFound):
        await scene.core.engine.casting.remove(scene.session.id, "Brom")
    with pytest.raises(Refused):
        await scene.core.engine.casting.remove(scene.session.id, "Rin")


async def test_the_memory_of_each_is_its_own_after_a_fold(scene: Scene) -> None:
    await ask(scene, "Where is the salt?")
    await join(scene)
    await ask(scene, "Rin, is the hold empty?", "“Quite empty.” `Full of salt.`")
    await ask(scene, "Brom, is it?", "“Aye.” `She lies.`")
    await fold(
        scene, 7,
        fact("Mio asked for salt.", "2"),
        fact("The hold is empty.", "5.1", "5.2", actual="It is full of salt."),
        fact("Brom sees through her.", "7.2"),
        fact("Mio asked about the hold.", "4"),
    )  # fmt: skip
    await ask(scene, "Brom?")
    await ask(scene, "Rin?")
    to_brom, to_rin = scene.prompts()[-2:]
    for words, knows_brom, knows_rin in (
        ("Mio asked for salt.", False, True),
        ("It is full of salt.", False, True),
        ("The hold is empty.", True, True),
        ("Brom sees through her.", True, False),
        ("Mio asked about the hold.", True, True),
    ):
        assert ((words in to_brom), (words in to_rin)) == (knows_brom, knows_rin), words
    assert "- Rin said: The hold is empty." in to_brom


async def test_what_is_recalled_is_what_its_character_may_know(scene: Scene) -> None:
    key = "The silver key hangs behind the stove."
    await ask(scene, "Good evening.", f"*{key}*")  # 3
    await join(scene)
    await ask(scene, "Rin, where is the golden compass?", "“No idea.” `The golden compass sank at Skerry.`")  # 5
    for number in range(6):
        await ask(scene, f"Rin, so much for {number}.")
    await fold(
        scene, 17, fact("Nobody has the golden compass.", "5.1", "5.2", actual="The golden compass sank at Skerry.")
    )
    await scene.core.store.render_again(scene.session.id, empty)
    await ask(scene, "Brom, where is the silver key?")
    assert key not in scene.prompts()[-1]
    await ask(scene, "Rin, where is the silver key?")
    assert key in scene.prompts()[-1]
    await ask(scene, "Brom, did you see the golden compass of Skerry?")
    assert "Skerry." not in scene.prompts()[-1].replace("of Skerry?", "")


async def test_a_cast_for_adults_plays_where_adults_are(scene: Scene) -> None:
    await join(scene, adult=True)
    await scene.core.engine.stop_session(CHANNEL)
    with pytest.raises(Refused) as refused:
        await scene.core.engine.resume_session(CHANNEL, None)
    assert (refused.value.code, refused.value.fields) == ("character-adult", {"name": "Brom"})
    session = await scene.core.engine.resume_session(CHANNEL, None, for_adults=True)
    assert [member.character.card.name for member in session.cast] == ["Rin", "Brom"]


async def test_who_cannot_be_played_does_not_join(scene: Scene) -> None:
    casting = scene.core.engine.casting
    with pytest.raises(NotFound):
        await casting.add(scene.session.id, SCOPE, "Nobody")
    with pytest.raises(NotFound):
        await casting.add(99, SCOPE, "Rin")
    with pytest.raises(Refused):
        await casting.add(scene.session.id, SCOPE, "Rin")
    assert not await scene.core.engine.goes_on(99)
    assert await scene.core.engine.reply(99) is None


async def test_a_copy_of_the_story_names_all_who_played(scene: Scene) -> None:
    await join(scene)
    await ask(scene, "Brom!", json.dumps({"beats": [{"kind": "speech", "speaker": "Brom", "text": "Here."}]}))
    archive = await scene.core.engine.archive(scene.session.id)
    text = as_markdown(archive)
    assert "- **Rin**, played by the bot" in text
    assert "- **Brom**, played by the bot\n" in text
    assert "cooks and never lies" in text
    assert "**Brom**, in the story" not in text
