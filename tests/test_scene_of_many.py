"""Three characters, five players, two hundred messages: who answers what, and what each of them knows.

The scripted model tells from its prompt who it is and what it is asked, as a model would, and thinks something with each
reply. Then every prompt is searched for what its character must not know.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from bot.memory.memories import MemoryKind, SessionMemory
from bot.memory.prompt import Card
from bot.memory.story import Scope
from bot.memory.turns import PlayerMessage, Turn
from tests.support.model_server import ModelServer, Recorded
from tests.support.scene import CHANNEL, Scene, open_scene

MESSAGES: Final = 200
JOINS_AT: Final = 100
TOLD_AT: Final = 54
ASKED_AT: Final = (165, 170)
PLAYERS: Final = ((11, "Mio"), (12, "Alex"), (13, "Alex"), (14, "Sora"), (15, "Yuki"))
THINGS: Final = {"Rin": "brass whistle", "Brom": "broken oar", "Kai": "paper lantern"}
CARDS: Final = {
    name: Card(name, f"{{{{char}}}} carries a {thing}.", system_prompt="{{char}} never boasts before {{user}}.")
    for name, thing in THINGS.items()
}
BUDGETS: Final[dict[str, Any]] = {
    "fold_trigger": 3_000,
    "fold_ceiling": 6_000,
    "fold_floor": 400,
    "fold_room": 1_500,
    "fold_stretch": 2_000,
    "fold_chapters_total": 800,
}
NUMBER: Final = re.compile(r"\bm(\d{3})\b")
THOUGHT: Final = re.compile(r"\bmulls(Rin|Brom|Kai)(\d{3})\b")


def who_is(body: dict[str, Any]) -> str:
    """Whose prompt it is, by the card."""
    system = body["messages"][0]["content"]
    (name,) = (name for name, thing in THINGS.items() if thing in system)
    return name


def asked(body: dict[str, Any], who: str) -> int:
    """The number of the newest message that names somebody, else of the newest of all."""
    lines = [line for line in body["messages"][-1]["content"].splitlines() if re.match(r"[^:]+: m\d{3} ", line)]
    named = [line for line in lines if re.search(rf"\b{who}\b", line)]
    return int(NUMBER.search((named or lines)[-1])[1])  # type: ignore[index]


def reply_of(body: dict[str, Any]) -> str:
    """In one form or the other: what it does, what it says, what it thinks. With every tenth it calls the next of the cast."""
    who = who_is(body)
    number = asked(body, who)
    other = {"Rin": "Brom", "Brom": "Rin", "Kai": "Rin"}[who]
    says = f"{other}, what of m{number:03}?" if number % 10 == 0 else f"So much for m{number:03}."
    thinks = f"The harbour chest is empty since dusk, mulls{who}{number:03}."
    if number % 2:
        return f"*{who} looks up at m{number:03}.* “{says}” `{thinks}`"
    beats = [("narration", f"{who} looks up at m{number:03}."), ("speech", says), ("thought", thinks)]
    return json.dumps({"beats": [{"kind": kind, "speaker": who, "text": text} for kind, text in beats]})


def chapter_of(body: dict[str, Any]) -> dict[str, Any]:
    """Of each reply what was said and what was thought."""
    lines = re.findall(r"^\[(\d+)\.(\d+) (\w+) ([^\]]*)\] (.*)$", body["messages"][-1]["content"], re.MULTILINE)
    by_turn: dict[str, dict[str, tuple[str, str, str]]] = {}
    for seq, beat, kind, name, text in lines:
        by_turn.setdefault(seq, {})[kind] = (f"{seq}.{beat}", name, text)
    memories = []
    for beats in by_turn.values():
        if "thought" in beats and "speech" in beats:
            (spoken, who, said), (thought, _, actual) = beats["speech"], beats["thought"]
            secret = {
                "kind": "secret",
                "text": said,
                "actual": actual,
                "who": who,
                "to": "",
                "cites": [spoken, thought],
            }
            memories.append(secret)
    return {"memories": memories[:16], "opened": [], "resolved": []}


def major_of(body: dict[str, Any]) -> dict[str, Any]:
    """Nothing becomes shorter."""
    return {"events": []}


@dataclass
class Play:
    """What was played: who had to answer each message first, and the turns."""

    scene: Scene
    first: dict[int, str] = field(default_factory=dict)
    messages: dict[str, int] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    waiting: tuple[Turn, ...] = ()
    memory: SessionMemory = field(default_factory=SessionMemory)

    @property
    def requests(self) -> list[Recorded]:
        """What was asked of the model for replies."""
        return self.scene.server.of("reply")

    async def hear(self, number: int, words: str, *, reply_to: str | None = None) -> None:
        player, name = PLAYERS[number % len(PLAYERS)]
        self.scene.written += 1
        self.scene.clock.pass_by(seconds=20)
        message = PlayerMessage(
            self.scene.written, CHANNEL, player, name, f"m{number:03} {words}", self.scene.clock(),
            reply_to=self.messages[reply_to] if reply_to else None,
        )  # fmt: skip
        assert await self.scene.core.engine.hear(message) is not None

    async def answer(self) -> list[str]:
        """All replies that follow, as the cog lets them; who gave them."""
        engine, session = self.scene.core.engine, self.scene.session
        gave: list[str] = []
        while not gave or await engine.goes_on(session.id):
            reply = await engine.reply(session.id, unasked=bool(gave))
            assert reply is not None
            self.scene.written += 1
            await engine.delivered(reply.turn.id, CHANNEL, [self.scene.written])
            assert "mulls" not in reply.text
            self.messages[reply.character.card.name] = self.scene.written
            gave.append(reply.character.card.name)
        return gave

    async def join(self, name: str) -> None:
        """Another character joins."""
        core = self.scene.core
        await core.characters.create(Scope(1, 9), CARDS[name], "")
        await core.engine.casting.add(self.scene.session.id, Scope(1, 9), name)


async def played(scene: Scene) -> Play:
    """Let two hundred messages be written, in all the ways in which somebody can be called, alone and two at once."""
    play = Play(scene)
    await play.join("Brom")
    cast = ["Rin", "Brom"]
    last = "Brom"
    number = 0
    while number < MESSAGES:
        if number >= JOINS_AT and "Kai" not in cast:
            await play.join("Kai")
            cast.append("Kai")
        called = cast[number % len(cast)]
        next_one = cast[(number + 1) % len(cast)]
        match number % 5:
            case 0:
                expected = [called]
                question = (
                    "did the silver zeppelin of Lindenhof burn?" if number in ASKED_AT else "is the tide with us?"
                )
                await play.hear(number, f"{called}, {question}")
            case 1 if called in play.messages:
                expected = [called]
                await play.hear(number, "And what then?", reply_to=called)
            case 2:  # two write at once, to different characters
                expected = [called, next_one]
                await play.hear(number, f"Say, {called}, shall we row?")
                number += 1
                await play.hear(number, f"{next_one}! Look there!")
            case _:
                expected = [cast[(cast.index(last) + 1) % len(cast)]]
                await play.hear(number, _words(number))
        gave = await play.answer()
        assert gave[: len(expected)] == expected, number
        assert len(gave) <= max(2, len(expected)), number
        for back, name in enumerate(reversed(expected)):
            play.first[number - back] = name
        last = gave[-1]
        number += 1
        if number % 10 == 0:
            scene.clock.pass_by(seconds=31)
            await scene.core.folder.run_due()
    play.turns = await scene.core.store.turns(scene.session.id, 1, 10_000)
    play.waiting = (await scene.core.store.waiting(scene.session.id))[1]
    play.memory = await scene.core.store.memory(scene.session.id)
    return play


def _words(number: int) -> str:
    return (
        "The silver zeppelin of Lindenhof burned, and its crew of nine fled."
        if number == TOLD_AT
        else "The wind has turned."
    )


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    path = tmp_path_factory.mktemp("many") / "k.db"

    async def all_of_it() -> Play:
        async with (
            ModelServer() as server,
            open_scene(server, path, greeting=False, card=CARDS["Rin"], **BUDGETS) as scene,
        ):
            server.on_reply, server.on_fold, server.on_major_fold = reply_of, chapter_of, major_of
            return await played(scene)

    return asyncio.run(all_of_it())


def of(play: Play, name: str) -> list[Recorded]:
    """The requests for a character's replies."""
    return [request for request in play.requests if who_is(request.body) == name]


def test_each_message_is_answered_once_by_whom_it_calls_and_each_reply_is_to_its_own(play: Play) -> None:
    replies = [turn for turn in play.turns if not turn.author.is_player]
    answered = [(turn.author.name, int(NUMBER.search(turn.raw)[1])) for turn in replies]  # type: ignore[index]

    assert len(answered) == len(set(answered)), "nobody answers the same message twice"
    assert sorted(play.first) == list(range(MESSAGES))
    assert {(name, number) for number, name in play.first.items()} - set(answered) == set()
    assert play.waiting == ()


def test_a_thought_is_seen_by_its_own_character_only(play: Play) -> None:
    for name in THINGS:
        seen = {thinker for request in of(play, name) for thinker, _ in THOUGHT.findall(request.prompt)}
        assert seen == {name}


def test_a_secret_reaches_nobody_elses_memory(play: Play) -> None:
    """Not by the chapters either: the other characters have its outward side, as said by the one whose it is."""
    secrets = [m.content for m in play.memory.memories if m.kind is MemoryKind.SECRET]
    assert {secret.speaker for secret in secrets} == set(THINGS)
    for name in THINGS:
        heads = [request.messages[1]["content"] for request in of(play, name)]
        kept = {thinker for head in heads for thinker, _ in THOUGHT.findall(head)}
        assert kept == {name}
        others = [secret for secret in secrets if secret.speaker != name]
        assert any(secret.text in head for secret in others for head in heads)


def test_each_has_its_own_system_prompt_with_its_own_name(play: Play) -> None:
    systems = {name: {request.messages[0]["content"] for request in of(play, name)} for name in THINGS}

    for name, (system, *more) in systems.items():
        assert more == []
        assert f"{name} carries a {THINGS[name]}." in system
        assert f"{name} never boasts" in system
        assert "{{" not in system
        assert not any(other in system for other in THINGS if other != name)


def test_who_joins_in_the_middle_knows_nothing_of_before(play: Play) -> None:
    """Neither raw, nor by the memory after the folds, nor by what a question brings to mind."""
    early = {
        number for request in of(play, "Kai") for number in NUMBER.findall(request.prompt) if int(number) < JOINS_AT
    }
    recalled = [request for request in of(play, "Rin") if "crew of nine" in request.messages[-1]["content"]]

    assert early == set()
    assert any("zeppelin of Lindenhof" in request.messages[-1]["content"] for request in of(play, "Kai"))
    assert not any("crew of nine" in request.prompt for request in of(play, "Kai"))
    assert any("silver zeppelin of Lindenhof burn?" in request.messages[-1]["content"] for request in recalled)
    assert len(play.memory.chapters) > 5


def test_each_characters_prompt_only_grows_between_folds(play: Play) -> None:
    for name in THINGS:
        heads = [request.messages[1]["content"] for request in of(play, name)]
        grew = [
            after.prompt.startswith(before.prompt.removesuffix("<|end|><|assistant|>"))
            for before, after in itertools.pairwise(of(play, name))
        ]
        assert grew == [before == after for before, after in itertools.pairwise(heads)]
        assert 1 < len(set(heads)) == grew.count(False) + 1
