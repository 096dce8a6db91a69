"""A copy of one's own data, and being forgotten, on real parts: the store's files, the folder, a model server on a socket."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from bot.core import open_core
from bot.errors import Refused
from bot.memory.corrections import Correction, CorrectionKind
from bot.memory.memories import MemoryKind, MemoryStatus
from bot.memory.prompt import Card
from bot.memory.story import Scope
from bot.store import Store, sqlite
from bot.store.people_tables import acquaintances, exchanges, judgements, notes, traits
from bot.store.tables import memories, messages, turns
from tests.store.tale import rows
from tests.store.test_forgetting import found_in
from tests.support.judge import NOTES, be_honest, habits
from tests.support.model_server import ModelServer, Script
from tests.support.scene import ALEX, CHANNEL, MIO, SMALL_BUDGETS, Scene, open_scene, settings_for

SECRET = "zanzibarquilt"
NETS = "I mend the long brown nets beside the harbour wall every winter, whatever the weather does."
KEPT_DAYS = 30


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        running.on_reply = lambda _: '*She turns the wheel.* "Aye, that is how it was told to me."'
        running.on_fold = chapter_of
        yield running


@pytest.fixture
async def scene(server: ModelServer, tmp_path: Path) -> AsyncIterator[Scene]:
    async with open_scene(server, tmp_path / "story.db", guild_keep_days=KEPT_DAYS, **SMALL_BUDGETS) as opened:
        yield opened


def chapter_of(body: dict[str, Any]) -> dict[str, Any]:
    """A chapter that says of each player's line, word for word, that it happened; and of Mio what she said of herself."""
    lines = re.findall(r"^\[(\d+\.\d+) player (\w+)[^\]]*\] (.*)$", body["messages"][-1]["content"], re.MULTILINE)
    found = [
        {"kind": "fact", "text": f"{who}: {text[:110]}", "actual": "", "who": who, "to": "", "cites": [cite]}
        for cite, who, text in lines
    ]
    return {"memories": found, "opened": [], "resolved": []}


async def play(scene: Scene) -> None:
    """Mio and Alex play until a fold is due."""
    for number in range(4):
        await scene.hear(f"My {number}th {SECRET} lies under the {number}th stone of the old mole.")
        await scene.hear(f"{NETS} {number}", by=ALEX, name="Alex")
        await scene.reply()
    scene.clock.pass_by(seconds=31)


async def told(scene: Scene) -> None:
    """They play, and it is folded."""
    await play(scene)
    await scene.core.folder.run_due()


async def forget(scene: Scene) -> None:
    await scene.core.privacy.forget(MIO)
    await scene.core.privacy.run_due()


async def test_forgotten_she_is_in_no_prompt_and_chapters_are_folded_from_what_is_left(
    scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="bot")
    await told(scene)
    before = (await scene.core.store.memory(scene.session.id)).memories
    assert any(SECRET in m.content.text for m in before)
    folds = len(scene.server.of("fold"))
    caplog.clear()

    await forget(scene)
    scene.clock.pass_by(seconds=1)
    await scene.core.folder.run_due()
    await scene.hear("Where were we?", by=ALEX, name="Alex")
    await scene.reply()

    assert await scene.core.privacy.is_forgotten(MIO)
    assert SECRET not in json.dumps([r.body for r in scene.server.of("fold")[folds:]]), "folded again without her"
    assert len(scene.server.of("fold")) > folds
    assert SECRET not in scene.prompts()[-1]
    assert "long brown nets" in scene.prompts()[-1]
    memory = await scene.core.store.memory(scene.session.id)
    assert [m for m in memory.memories if SECRET in m.content.text] == []
    active = [m for m in memory.memories if m.is_active]
    assert {m.content.player_id for m in active if m.kind is MemoryKind.FACT} == {ALEX}
    assert {m.status for m in memory.memories if m.number in {old.number for old in before}} <= {
        MemoryStatus.FORGOTTEN,
        MemoryStatus.REPLACED,
    }
    left = await scene.core.store.turns(scene.session.id, 1, 99)
    assert sum(turn.raw.startswith(NETS) for turn in left) == 4
    assert found_in(tmp_path, SECRET) == set()
    assert SECRET not in caplog.text
    assert "Mio" not in caplog.text
    assert str(MIO) not in re.findall(r"\d+", caplog.text)


async def test_a_fold_under_way_while_she_is_forgotten_comes_to_nothing(scene: Scene, tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def slowly(body: dict[str, Any]) -> dict[str, Any]:
        await gate.wait()
        return chapter_of(body)

    scene.server.on_fold = slowly
    await play(scene)
    await scene.core.folder.wake()
    read = (await scene.server.arrived(1, "fold"))[0]

    await forget(scene)
    gate.set()
    await scene.core.folder.run_due()

    assert SECRET in read.prompt
    memory = await scene.core.store.memory(scene.session.id)
    assert (memory.chapters, memory.memories) == ((), ()), "what is left is short again"
    assert found_in(tmp_path, SECRET) == set()


async def test_a_fold_of_a_story_that_goes_whole_ends_quietly(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    gate = asyncio.Event()

    async def slowly(body: dict[str, Any]) -> dict[str, Any]:
        await gate.wait()
        return chapter_of(body)

    scene.server.on_fold = slowly
    for number in range(16):
        await scene.exchange(f"My {number}th {SECRET} lies under the {number}th stone of the old mole, by the lamp.")
    scene.clock.pass_by(seconds=31)
    await scene.core.folder.wake()
    await scene.server.arrived(1, "fold")

    await forget(scene)
    gate.set()
    await scene.core.folder.run_due()

    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert await rows(scene.core.store, memories) == []


async def test_a_reply_that_is_being_written_is_waited_for_and_its_lines_about_her_go(
    scene: Scene, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    scene.server.replies.append(Script(f'*Rin nods.* "Mio, keep your {SECRET}!" *A bell rings.*', hang=gate))
    await scene.hear(f"Here is my {SECRET}.")
    await scene.hear(NETS, by=ALEX, name="Alex")
    writing = asyncio.create_task(scene.reply())
    await scene.server.arrived(1, "reply")
    forgetting = asyncio.create_task(forget(scene))

    gate.set()
    reply = await writing
    await forgetting

    kept = await scene.core.store.turns(scene.session.id, reply.turn.seq, reply.turn.seq)
    assert kept[0].raw == "*Rin nods.*\n*A bell rings.*"
    assert found_in(tmp_path, SECRET) == set()


async def test_traits_and_notes_go_and_a_judgement_under_way_comes_to_nothing(
    scene: Scene, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    habit = f"I polish my {SECRET} every evening before supper."
    be_honest(scene.server)
    await scene.exchange(NETS, by=ALEX, name="Alex")
    await night(scene, habit)
    await scene.core.judging.run_due()
    assert len((await scene.core.store.portraits_of(MIO, 1, everywhere=False))[0].traits) == 1
    gate = asyncio.Event()

    async def slowly(body: dict[str, Any]) -> dict[str, Any]:
        await gate.wait()
        return habits(body)

    scene.server.on[NOTES] = slowly
    asked = len(scene.server.of(NOTES))
    await night(scene, habit)
    await scene.core.judging.wake()
    await scene.server.arrived(asked + 1, NOTES)

    await forget(scene)
    gate.set()
    await scene.core.judging.run_due()

    assert await scene.core.store.portraits_of(MIO, 1, everywhere=False) == ()
    assert len(await scene.core.store.portraits_of(ALEX, 1, everywhere=False)) == 1
    for table in (notes, traits, exchanges, judgements, acquaintances):
        of_alex = {row.id for row in await rows(scene.core.store, acquaintances) if row.player_id == ALEX}
        held = {getattr(row, "acquaintance_id", row.id) for row in await rows(scene.core.store, table)}
        assert held <= of_alex, table.name
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    assert found_in(tmp_path, SECRET) == set()


async def night(scene: Scene, text: str) -> None:
    """Mio writes, and a morning comes at which it is to be judged."""
    await scene.exchange(text)
    scene.clock.pass_by(days=1)
    await scene.core.judging.hold_mornings()


async def test_a_story_that_goes_whole_while_its_reply_is_delivered_troubles_nobody(scene: Scene) -> None:
    await scene.hear(f"Here is my {SECRET}.")
    reply = await scene.core.engine.reply(scene.session.id)
    assert reply is not None
    await forget(scene)

    await scene.core.engine.delivered(reply.turn.id, CHANNEL, [9_999])

    assert await scene.core.engine.reply(scene.session.id) is None
    assert await scene.core.engine.running_session(CHANNEL) is None
    assert await rows(scene.core.store, messages) == []


async def test_a_wish_that_fails_is_kept_and_hinders_no_other(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    await play(scene)
    forget_traits = scene.core.store.forget_traits

    async def breaks(player_id: int) -> None:
        if player_id == MIO:
            raise OSError("the disk is full")
        await forget_traits(player_id)

    await scene.core.privacy.forget(MIO)
    await scene.core.privacy.forget(ALEX)
    with monkeypatch.context() as patch:
        patch.setattr(scene.core.store, "forget_traits", breaks)
        await scene.core.privacy.run_due()

    assert await scene.core.store.forgettings() == (MIO,)
    await scene.core.privacy.run_due()
    assert await scene.core.store.forgettings() == ()


async def test_a_reader_in_the_way_of_emptying_the_log_leaves_the_wish_for_later(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_PATIENCE", 0.05)
    async with open_scene(server, tmp_path / "story.db", **SMALL_BUDGETS) as scene:
        await play(scene)
        async with scene.core.store._database.read() as connection:
            assert (await connection.execute(select(turns))).all()
            await forget(scene)
            assert not await scene.core.privacy.is_forgotten(MIO)
            await scene.hear("Hello, I am new here.")

        await scene.core.privacy.run_due()

        assert await scene.core.privacy.is_forgotten(MIO)
        assert found_in(tmp_path, SECRET) == set()
        newest = (await scene.core.store.recent_turns(scene.session.id, 1))[0]
        assert (newest.raw, newest.author.id) == ("Hello, I am new here.", MIO), "what she writes now is no part of it"


async def test_a_second_wish_while_the_first_is_carried_out_is_carried_out_too(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(scene)
    before = len(await rows(scene.core.store, turns))
    forget_person = scene.core.store.forget_person

    async def meanwhile(player_id: int, *args: Any, **options: Any) -> None:
        if len(await rows(scene.core.store, turns)) == before:
            scene.clock.pass_by(seconds=1)
            await scene.hear(f"Here is another {SECRET}, pressed flat.")
            await scene.core.privacy.forget(MIO)
        await forget_person(player_id, *args, **options)

    monkeypatch.setattr(scene.core.store, "forget_person", meanwhile)

    await forget(scene)

    assert len(await rows(scene.core.store, turns)) == before + 1
    assert await scene.core.privacy.is_forgotten(MIO)
    assert found_in(tmp_path, SECRET) == set()


async def test_no_log_line_says_whose_wish_or_decision_it_was(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bot")
    await told(scene)
    number = (await scene.core.store.memory(scene.session.id)).memories[0].number
    first = (await scene.core.moderation.flag(scene.session.id, number, by=MIO, why="No.")).flag
    second = (await scene.core.moderation.flag(scene.session.id, number, by=MIO, why="No!")).flag
    await scene.core.moderation.dismiss(first.id, by=ALEX)
    retract = Correction(CorrectionKind.RETRACT, ALEX, "Never happened.")
    await scene.core.moderation.correct(scene.session.id, retract, number, flag_id=second.id)
    await scene.core.people.stop_remembering(MIO, None)

    logged = set(re.findall(r"\d+", caplog.text))
    assert "flagged" in caplog.text
    assert "dismissed" in caplog.text
    assert "by a moderator" in caplog.text
    assert "remembered False" in caplog.text
    assert {str(MIO), str(ALEX)}.isdisjoint(logged)


async def test_who_only_decided_a_report_is_told_of_it_and_can_be_forgotten(scene: Scene) -> None:
    await told(scene)
    number = (await scene.core.store.memory(scene.session.id)).memories[0].number
    report = await scene.core.moderation.flag(scene.session.id, number, by=MIO, why="No.")
    await scene.core.moderation.dismiss(report.flag.id, by=4242)

    going = await scene.core.privacy.what_goes(4242)
    (document,) = await scene.core.privacy.export(4242)
    await scene.core.privacy.forget(4242)
    await scene.core.privacy.run_due()

    assert (going.made, going.is_nothing) == (1, False)
    assert [entry["state"] for entry in json.loads(document)["decisions"]] == ["dismissed"]
    assert (await scene.core.privacy.what_goes(4242)).is_nothing
    with pytest.raises(Refused) as refusal:
        await scene.core.moderation.dismiss(report.flag.id, by=ALEX)
    assert refusal.value.code == "flag-settled"


MOMENTS = ("after:ask_to_forget", "after:forget_in_story", "before:finish_forgetting")
KILLED = """
import asyncio, sys
from pathlib import Path
from bot.core import open_core
from bot.settings import Settings
from tests.support.mortal import die_at

async def main(moment, base_url, database_url, player_id):
    die_at(moment)
    settings = Settings(_env_file=None, llm_base_url=base_url, database_url=database_url)
    async with open_core(settings) as core:
        await core.privacy.forget(int(player_id))
        await core.privacy.run_due()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
async def story(server: ModelServer, tmp_path: Path) -> Path:
    """The database of a folded story; its process has ended."""
    async with open_scene(server, tmp_path / "before.db", **SMALL_BUDGETS) as scene:
        await told(scene)
    return tmp_path / "before.db"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_killed_between_any_two_steps_it_is_gone_on_with(server: ModelServer, story: Path) -> None:
    for place, moment in enumerate(MOMENTS):
        folder = story.parent / str(place)
        folder.mkdir()
        file = folder / "story.db"
        shutil.copy(story, file)
        url = f"sqlite+aiosqlite:///{file.as_posix()}"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, moment, server.base_url, url, str(MIO)
        )
        assert await child.wait() == -signal.SIGKILL, moment
        async with await Store.open(url, migrate=False) as store:
            assert await store.forgettings() == (MIO,), moment

        async with open_core(settings_for(server, file)) as core:
            await core.privacy.run_due()
            assert await core.privacy.is_forgotten(MIO), moment

        assert found_in(folder, SECRET) == set(), moment
        async with await Store.open(url, migrate=False) as store:
            left = [row.raw for row in await rows(store, turns) if row.raw.startswith(NETS)]
        assert len(left) == 4, moment


async def test_the_copy_holds_what_is_theirs_and_nothing_that_is_hidden(scene: Scene) -> None:
    await told(scene)
    cast = Scope(None, MIO)
    await scene.core.characters.create(cast, Card("Vex", "A fox of few words."), "")
    number = next(
        m.number for m in (await scene.core.store.memory(scene.session.id)).memories if SECRET in m.content.text
    )
    await scene.core.moderation.flag(scene.session.id, number, by=MIO, why="I never said that")
    await scene.core.moderation.flag(scene.session.id, number, by=ALEX, why="Neither did I")
    await hide(scene, number)

    (document,) = await scene.core.privacy.export(MIO)

    data = json.loads(document)
    assert (data["format"], data["version"], data["part"], data["parts"]) == ("kataribe-own-data", 1, 1, 1)
    assert (data["player_id"], data["remembered"]) == (str(MIO), True)
    assert [turn["text"][:4] for turn in data["turns"]] == ["My 0", "My 1", "My 2", "My 3"]
    assert data["turns"][0]["message_ids"] == ["1001"]
    assert data["stories"][0]["names"] == [{"name": "Mio", "label": "Mio", "persona_id": None}]
    assert [report["why"] for report in data["reports"]] == ["I never said that"]
    (vex,) = data["characters"]
    assert (vex["name"], vex["card"]["data"]["description"]) == ("Vex", "A fox of few words.")
    assert {m["about_you"] for m in data["memories"]} == {True}
    hidden = next(m for m in data["memories"] if m["number"] == number)
    assert hidden["text"] is None
    assert "Alex" not in document.decode()
    assert "nets" not in document.decode()


async def hide(scene: Scene, number: int) -> None:
    """Let a memory be one that only a thought shows."""
    async with scene.core.store._database.write() as connection:
        shown = (memories.c.session_id == scene.session.id) & (memories.c.number == number)
        await connection.execute(update(memories).where(shown).values(private=True))


async def test_the_copy_has_personas_what_was_said_as_them_and_ways_that_were_left(scene: Scene) -> None:
    await scene.core.personas.save(MIO, 1, "Haru", description="A young guard.", brackets="haru: text")
    await scene.core.personas.save(ALEX, 1, "Nets", description="A fisher of nets.")
    await scene.exchange("haru: Who goes there?")
    number = await scene.hear("haru: I said, who?")
    await scene.reply()
    told = await scene.core.rewinding.told(scene.written - 2)
    assert (told.turn.author.is_player, number) == (False, scene.written - 1)
    await scene.core.rewinding.rewind(told, by=MIO)

    (document,) = await scene.core.privacy.export(MIO)

    data = json.loads(document)
    (haru,) = data["personas"]
    assert (haru["name"], haru["description"], haru["brackets"]) == ("Haru", "A young guard.", ["haru:text"])
    assert haru["active_in"] == ["1"]
    assert data["stories"][0]["names"] == [{"name": "Haru", "label": "Haru", "persona_id": haru["id"]}]
    assert [(turn["text"], turn["persona_id"], turn["set_aside"]) for turn in data["turns"]] == [
        ("Who goes there?", haru["id"], False),
        ("I said, who?", haru["id"], True),
    ]
    assert [(left["session_id"], left["at_seq"]) for left in data["branches"]] == [(scene.session.id, told.turn.seq)]
    assert "nets" not in document.decode()
    going = await scene.core.privacy.what_goes(MIO)
    assert (going.personas, going.turns, going.made) == (1, 2, 1)


async def test_a_card_too_large_for_a_file_is_left_to_its_own_command(scene: Scene) -> None:
    card = Card("Vex", "A fox of few words.", personality="x" * 3_000)
    await scene.core.characters.create(Scope(None, MIO), card, "")

    (whole,) = await scene.core.privacy.export(MIO)
    (part,) = await scene.core.privacy.export(MIO, largest=2_000)

    (vex,) = json.loads(whole)["characters"]
    assert vex["card"]["data"]["personality"] == card.personality
    (vex,) = json.loads(part)["characters"]
    assert "card" not in vex
    assert vex["description"] == card.description


async def test_a_reply_that_was_swiped_away_and_a_turn_that_was_rewound_leave_no_word(
    scene: Scene, tmp_path: Path
) -> None:
    await scene.core.personas.save(MIO, 1, "Sabelorchid", description=f"A smith who salts the forge with {SECRET}.")
    await scene.hear(NETS, by=ALEX, name="Alex")
    reply = await scene.exchange("Good morning.", f"*A smith who salts the forge with {SECRET} nods.*")
    scene.server.replies.append("*Rin hums.*")
    await scene.core.engine.retell(scene.session.id, reply.turn.id)
    told = await scene.core.rewinding.told(scene.written)
    await scene.exchange(f"My {SECRET}!", '"Sabelorchid has lost it."')
    await scene.core.rewinding.rewind(told, by=ALEX)
    assert {SECRET, "Sabelorchid", "salts the forge"} == found_in(tmp_path, SECRET, "Sabelorchid", "salts the forge")

    await forget(scene)

    assert await scene.core.privacy.is_forgotten(MIO)
    assert found_in(tmp_path, SECRET, "Sabelorchid", "salts the forge") == set()
    kept = await scene.core.rewinding.turn(reply.turn.id)
    assert (kept.reply.text, len(kept.tellings)) == ("*Rin hums.*", 1)
    assert [branch.turns for branch in await scene.core.rewinding.branches(scene.session.id)] == []


class Pictures:
    """Where pictures are kept; ``refuses`` says whether one cannot be removed now."""

    def __init__(self, *addresses: str) -> None:
        self.kept = set(addresses)
        self.refuses = False

    async def remove(self, address: str) -> None:
        if self.refuses:
            raise OSError("Discord does not answer")
        self.kept.discard(address)


async def test_pictures_go_before_the_rows_that_know_where_they_are(scene: Scene, tmp_path: Path) -> None:
    pictures = Pictures("https://a/haru.png", "https://a/vex.png", "https://a/guild.png")
    await scene.core.personas.save(MIO, 1, "Haru", avatar_url="https://a/haru.png")
    await scene.core.characters.create(Scope(None, MIO), Card("Vex", "A fox."), "https://a/vex.png")
    await scene.core.characters.create(Scope(1, MIO), Card("Ana", "A guard."), "https://a/guild.png")

    await forget(scene)
    assert not await scene.core.privacy.is_forgotten(MIO), "nobody can remove them yet"
    scene.core.privacy.remove_picture = pictures.remove
    pictures.refuses = True
    await scene.core.privacy.run_due()
    assert not await scene.core.privacy.is_forgotten(MIO)
    assert found_in(tmp_path, "haru.png", "vex.png") == {"haru.png", "vex.png"}
    pictures.refuses = False
    await scene.core.privacy.run_due()

    assert await scene.core.privacy.is_forgotten(MIO)
    assert pictures.kept == {"https://a/guild.png"}, "what was made for a guild is the guild's"
    assert found_in(tmp_path, "haru.png", "vex.png") == set()


async def test_the_pictures_of_a_guilds_characters_go_with_it(scene: Scene) -> None:
    pictures = Pictures("https://a/ana.png")
    await scene.core.characters.create(Scope(1, 9), Card("Ana", "A guard."), "https://a/ana.png")
    await scene.core.privacy.guild_left(1)
    scene.clock.pass_by(days=KEPT_DAYS)

    await scene.core.privacy.delete_departed()
    assert len(await scene.core.characters.usable(Scope(1, 9))) == 2, "nobody can remove it yet"
    scene.core.privacy.remove_picture = pictures.remove
    await scene.core.privacy.delete_departed()

    assert await scene.core.characters.usable(Scope(1, 9)) == ()
    assert pictures.kept == set()


async def test_a_large_copy_comes_in_parts_that_each_can_be_read(scene: Scene) -> None:
    await told(scene)
    (whole,) = await scene.core.privacy.export(MIO)

    parts = await scene.core.privacy.export(MIO, largest=1_500)

    read = [json.loads(part) for part in parts]
    assert len(parts) > 2
    assert max(map(len, parts)) <= 1_500
    assert [(part["part"], part["parts"]) for part in read] == [(n, len(parts)) for n in range(1, len(parts) + 1)]
    for section in ("turns", "memories", "stories"):
        assert [entry for part in read for entry in part.get(section, [])] == json.loads(whole)[section]


async def test_what_goes_is_counted_before_it_goes(scene: Scene) -> None:
    await told(scene)

    going = await scene.core.privacy.what_goes(MIO)

    assert (going.turns, going.stories, going.own_stories) == (4, 1, 0)
    assert going.memories > 0
    assert not going.is_nothing
    assert (await scene.core.privacy.what_goes(777)).is_nothing


async def test_a_guild_is_deleted_so_many_days_after_it_removed_the_bot(scene: Scene, tmp_path: Path) -> None:
    await play(scene)
    await scene.core.privacy.reconcile([1])
    await scene.core.privacy.guild_left(1)
    scene.clock.pass_by(days=KEPT_DAYS - 1)
    await scene.core.privacy.reconcile([])
    await scene.core.privacy.delete_departed()
    assert await scene.core.store.session(scene.session.id) is not None

    scene.clock.pass_by(days=1)
    await scene.core.privacy.delete_departed()

    assert await scene.core.store.session(scene.session.id) is None
    assert await scene.core.characters.usable(Scope(1, 9)) == ()
    assert found_in(tmp_path, SECRET, "brown nets") == set()


async def test_a_guild_that_invites_the_bot_again_in_time_keeps_its_stories(scene: Scene) -> None:
    await scene.core.privacy.reconcile([])
    scene.clock.pass_by(days=KEPT_DAYS - 1)
    await scene.core.privacy.guild_joined(1)
    scene.clock.pass_by(days=9)

    await scene.core.privacy.delete_departed()

    assert await scene.core.store.session(scene.session.id) is not None
