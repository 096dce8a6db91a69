"""What a model is shown with a reply's prompt, on a real store and engine: and that the prompt never moves for it."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.memory.turns import PlayerMessage
from tests.support.model_server import Body, ModelServer, Script
from tests.support.scene import CHANNEL, MIO, Scene, open_scene

NOTE = "[shows a picture: {}]"


@dataclass
class Album:
    """Pictures by message, and portraits by address; what was asked for is written down."""

    messages: dict[int, list[bytes | None]] = field(default_factory=dict)
    portraits: dict[str, bytes] = field(default_factory=dict)
    asked: list[int | str] = field(default_factory=list)

    async def attached(self, channel_id: int, message_id: int) -> Sequence[bytes | None]:
        assert channel_id == CHANNEL
        self.asked.append(message_id)
        return self.messages.get(message_id, [])

    async def portrait(self, avatar_url: str) -> bytes | None:
        self.asked.append(avatar_url)
        return self.portraits.get(avatar_url)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with ModelServer(vision=True) as server, open_scene(server, tmp_path / "story.db") as scene:
        yield scene


@pytest.fixture
def album(scene: Scene) -> Album:
    scene.core.engine.sight.eyes = album = Album()
    return album


async def show(scene: Scene, text: str, *names: str, by: int = MIO, album: Album | None = None) -> int:
    """A player writes, with pictures; the message's id."""
    scene.written += 1
    scene.clock.pass_by(seconds=20)
    message = PlayerMessage(scene.written, CHANNEL, by, "Mio", text, scene.clock(), pictures=names)
    await scene.core.engine.hear(message)
    if album is not None:
        album.messages[scene.written] = [f"\xff\xd8{name}".encode("latin-1") for name in names]
    return scene.written


def shown(server: ModelServer) -> list[list[str]]:
    """The captions of the pictures of each reply's request."""
    return [[caption for caption, _ in request.pictures] for request in server.of("reply")]


async def test_a_picture_is_shown_with_the_newest_turn_and_in_no_later_prompt(scene: Scene, album: Album) -> None:
    await scene.exchange("Good evening.")
    await show(scene, "What is this?", "map.png", album=album)
    await scene.reply()
    await scene.exchange("And now?")

    assert shown(scene.server) == [[], [NOTE.format("map.png")], []]
    first, second, third = scene.server.of("reply")
    assert second.pictures == [(NOTE.format("map.png"), b"\xff\xd8map.png")]
    assert [isinstance(m["content"], str) for m in second.body["messages"]][-2:] == [True, False]
    assert "What is this?\n    [shows a picture: map.png]" in third.prompt
    end = "<|end|><|assistant|>"
    assert second.prompt.startswith(first.prompt.removesuffix(end))
    assert third.prompt.startswith(second.prompt.removesuffix(end))


async def test_the_words_of_a_prompt_are_the_same_bytes_with_and_without_the_picture(tmp_path: Path) -> None:
    prompts: list[list[str]] = []
    for vision in (True, False):
        async with (
            ModelServer(vision=vision) as server,
            open_scene(server, tmp_path / f"{vision}.db") as scene,
        ):
            scene.core.engine.sight.eyes = album = Album()
            for number in range(4):
                server.replies.append(f'"Reply {number}."')
                await show(scene, f"Look, number {number}.", f"{number}.png", album=album)
                await scene.reply()
            prompts.append(scene.prompts())
            assert shown(server) == [[NOTE.format(f"{n}.png")] if vision else [] for n in range(4)]
            assert album.asked == (list(album.messages) if vision else [])

    assert prompts[0] == prompts[1]


async def test_what_waits_is_shown_together_the_newest_four_in_order(scene: Scene, album: Album) -> None:
    await show(scene, "One", "a.png", "b.png", album=album)
    await show(scene, "No picture here.", album=album)
    await show(scene, "", "c.png", album=album)
    await show(scene, "((d))", "out.png", album=album)
    await show(scene, "Three", "e.png", "f.png", album=album)

    await scene.reply()

    assert shown(scene.server) == [[NOTE.format(name) for name in ("b.png", "c.png", "e.png", "f.png")]]


async def test_what_cannot_be_read_is_left_out_and_the_others_keep_their_captions(scene: Scene, album: Album) -> None:
    message_id = await show(scene, "Two", "a.png", "b.png")
    album.messages[message_id] = [None, b"\xff\xd8b"]

    await scene.reply()

    assert scene.server.of("reply")[0].pictures == [(NOTE.format("b.png"), b"\xff\xd8b")]


async def test_a_typed_note_shows_nothing_and_a_message_that_is_gone_neither(scene: Scene, album: Album) -> None:
    typed = await scene.hear(NOTE.format("a.png"))

    await scene.reply()

    assert shown(scene.server) == [[]]
    assert album.asked == [typed]


async def test_a_picture_is_shown_again_when_the_reply_failed_and_when_it_is_told_anew(
    scene: Scene, album: Album
) -> None:
    await show(scene, "Look.", "a.png", album=album)
    scene.server.replies.extend([Script.failure(401), '"A map."', '"No: a chart."'])
    with pytest.raises(Exception, match="model-key"):
        await scene.core.engine.reply(scene.session.id)

    reply = await scene.reply()
    told = await scene.core.engine.retell(scene.session.id, reply.turn.id)

    assert told.text == '"No: a chart."'
    assert shown(scene.server) == [[NOTE.format("a.png")]] * 3
    first, *others = scene.prompts()
    assert others == [first, first]


async def test_going_on_unasked_shows_nothing(scene: Scene, album: Album) -> None:
    await show(scene, "Look.", "a.png", album=album)
    await scene.reply()
    await scene.core.engine.reply(scene.session.id, unasked=True)
    assert shown(scene.server) == [[NOTE.format("a.png")], []]


async def test_a_picture_for_which_the_window_has_no_room_costs_no_turns(scene: Scene, album: Album) -> None:
    def answered(body: Body) -> Script:
        if isinstance(body["messages"][-1]["content"], str):
            return Script('"I cannot make it out."')
        return Script.failure(400, "exceed_context_size_error", "too long")

    await scene.exchange("Good evening.")
    await show(scene, "Look.", "a.png", album=album)
    scene.server.on_reply = answered
    await scene.reply()

    assert shown(scene.server)[1:] == [[NOTE.format("a.png")], []]
    assert scene.prompts()[1] == scene.prompts()[2]
    assert (await scene.core.engine.session(scene.session.id)).forced_cuts == 0


async def test_the_tokens_of_a_picture_do_not_teach_the_counter(scene: Scene, album: Album) -> None:
    await scene.exchange("Good evening.")
    text = "A sentence to be counted."
    before = scene.core.counter.guess(text)
    await show(scene, "Look.", "a.png", album=album)
    scene.server.replies.append(Script('"Aye."', usage={"prompt_tokens": 90_000, "completion_tokens": 3}))

    await scene.reply()

    assert scene.core.counter.guess(text) == before


async def test_an_edit_keeps_takes_and_changes_notes(scene: Scene) -> None:
    engine, message_id = scene.core.engine, await show(scene, "Look.", "a.png", "b.png")
    edits: list[tuple[str, tuple[str, ...]]] = [
        ("Look.", ("a.png", "b.png")),
        ("Look!", ("b.png",)),
        ("", ("b.png",)),
        ("", ()),
    ]
    turns = []
    for text, names in edits:
        await engine.message_edited(message_id, text, names)
        found = await scene.core.store.turn_of_message(message_id)
        assert found is not None
        turns.append(found[1])

    notes = [NOTE.format(name) for name in ("a.png", "b.png")]
    assert [(turn.revision, turn.raw) for turn in turns] == [
        (1, "\n".join(["Look.", *notes])),  # the event of a link's preview, say, is no edit
        (2, f"Look!\n{notes[1]}"),
        (3, notes[1]),
        (3, notes[1]),  # Discord has no message without anything
    ]
    assert [beat.text for beat in turns[-1].beats] == [notes[1]]


async def test_a_persona_is_shown_when_it_speaks_for_the_first_time(scene: Scene, album: Album) -> None:
    personas, address = scene.core.personas, "https://cdn.discordapp.com/emojis/5.png"
    album.portraits[address] = b"\xff\xd8haru"
    for name in ("Haru", "Kai"):
        await personas.save(MIO, 1, name, new_name=None, description=None, brackets=f"{name}: text", avatar_url=address)

    for text in ("Haru: Who goes there?", "Haru: Speak!", "Kai: It is me."):
        await scene.exchange(text)

    assert shown(scene.server) == [["[Haru looks like this]"], [], ["[Kai looks like this]"]]
    assert album.asked == [address, address]


async def test_eyes_that_fail_cost_no_reply(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    class Blind:
        async def attached(self, channel_id: int, message_id: int) -> Sequence[bytes | None]:
            raise KeyError(message_id)

        async def portrait(self, avatar_url: str) -> bytes | None:
            raise struct.error(avatar_url)

    scene.core.engine.sight.eyes = Blind()
    await scene.core.personas.save(MIO, 1, "Aya", avatar_url="https://example.com/a.png")
    await show(scene, "Look.", "a.png")
    scene.server.replies.append('"I see nothing."')

    assert (await scene.reply()).text == '"I see nothing."'
    assert shown(scene.server) == [[]]
    assert caplog.text.count("pictures could not be shown") == 2
