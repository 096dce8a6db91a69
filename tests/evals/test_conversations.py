"""Reading conversations: four kinds of files known by their content, and everything wrong with them counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.core import open_core
from bot.evals.conversation_files import read_conversations
from bot.evals.conversations import Conversation, ConversationUnreadable, written_time
from bot.evals.machinery import settings_for
from bot.evals.scripted import scripted_model
from bot.export import export_session
from bot.memory.prompt import Card
from bot.memory.story import Place, Scope
from bot.memory.turns import PlayerMessage


def locomo(**talk: Any) -> dict[str, Any]:
    """A sample of two sessions, with what ``talk`` adds or replaces in its conversation."""
    return {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a red boat."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a photo of a boat"},
            ],
            "session_2_date_time": "9:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I moved to Oslo."}],
            **talk,
        },
        "qa": [],
    }


def asked(question: str, category: int = 1, **more: Any) -> dict[str, Any]:
    return {"question": question, "category": category, "evidence": ["D1:1"], "answer": "red", **more}


def written(folder: Path, value: Any, name: str = "talk.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def only(path: Path, kind: str) -> Conversation:
    file = read_conversations(path)
    assert file.kind == kind
    assert len(file.conversations) == 1
    return file.conversations[0]


def holes(talk: Conversation) -> dict[str, int]:
    return {name: count for name, count in talk.holes.items() if count}


# --- LoCoMo ---------------------------------------------------------------------------------------------------------


def test_locomo_has_speakers_times_pictures_and_questions(tmp_path: Path) -> None:
    sample = locomo()
    sample["qa"] = [
        asked("What colour is the boat?"),
        asked("Who sold it?", 5, answer=None, adversarial_answer="Cy"),
    ]
    talk = only(written(tmp_path, [sample]), "LoCoMo")

    assert (talk.id, talk.player, talk.character, holes(talk)) == ("conv-1", "Ada", "Bo", {})
    assert [(t.id, t.speaker, t.by_character) for t in talk.turns] == [
        ("D1:1", "Ada", False),
        ("D1:2", "Bo", True),
        ("D2:1", "Bo", True),
    ]
    assert talk.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert talk.turns[1].at == datetime(2023, 5, 8, 13, 57, tzinfo=UTC)
    assert talk.turns[2].at == datetime(2023, 6, 1, 9, 5, tzinfo=UTC)
    assert talk.turns[1].line == "Bo: Nice! [shows a picture: a photo of a boat]"
    assert [(q.answer, q.evidence) for q in talk.questions] == [("red", ("D1:1",)), (None, ("D1:1",))]


@pytest.mark.parametrize(
    ("cites", "evidence", "counted"),
    [
        (["D1:1"], ("D1:1",), {}),
        (["D1:1; D2:1"], ("D1:1", "D2:1"), {"evidence ids mended": 1}),
        (["D:2:1"], ("D2:1",), {"evidence ids mended": 1}),
        (["D2:01"], ("D2:1",), {"evidence ids mended": 1}),
        ("D2:1", ("D2:1",), {}),
        (["D"], (), {"evidence ids unreadable": 1, "questions whose evidence is nowhere": 1}),
        ([7], (), {"evidence ids unreadable": 1, "questions whose evidence is nowhere": 1}),
        (["D9:9"], (), {"evidence ids of nothing in the chat": 1, "questions whose evidence is nowhere": 1}),
        (["D9:9", "D1:2"], ("D1:2",), {"evidence ids of nothing in the chat": 1}),
        ([], (), {"questions without evidence": 1}),
        (None, (), {"questions without evidence": 1}),
    ],
)
def test_evidence_is_mended_where_it_is_plain_and_counted_where_not(
    tmp_path: Path, cites: object, evidence: tuple[str, ...], counted: dict[str, int]
) -> None:
    sample = locomo()
    sample["qa"] = [asked("What colour?", evidence=cites)]
    talk = only(written(tmp_path, [sample]), "LoCoMo")
    assert talk.questions[0].evidence == evidence
    assert holes(talk) == counted


@pytest.mark.parametrize(
    ("record", "answer", "counted"),
    [
        (asked("When?", answer=2022), "2022", {"answers that are numbers": 1}),
        (asked("When?", answer=2.5), "2.5", {"answers that are numbers": 1}),
        (asked("Is it red?", 5, answer="No"), "No", {"questions of category 5 with an answer": 1}),
    ],
)
def test_odd_answers_are_used_and_counted(
    tmp_path: Path, record: dict[str, Any], answer: str, counted: dict[str, int]
) -> None:
    talk = only(written(tmp_path, [{**locomo(), "qa": [record]}]), "LoCoMo")
    assert [q.answer for q in talk.questions] == [answer]
    assert holes(talk) == counted


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (asked("What?", answer=None), "questions without an answer"),
        (asked("What?", answer=True), "questions without an answer"),
        (asked("  "), "questions of another form"),
        ("What?", "questions of another form"),
    ],
)
def test_questions_that_cannot_be_asked_are_counted(tmp_path: Path, record: Any, name: str) -> None:
    talk = only(written(tmp_path, [{**locomo(), "qa": [record]}]), "LoCoMo")
    assert talk.questions == ()
    assert holes(talk) == {name: 1}


@pytest.mark.parametrize(
    ("change", "turns", "counted"),
    [
        ({"session_3_date_time": "9:05 am on 2 June, 2023"}, 3, {"sessions missing": 1}),
        ({"session_2": []}, 2, {"sessions missing": 1}),
        ({"session_2": "gone"}, 2, {"sessions missing": 1}),
        ({"session_2_date_time": None}, 3, {"sessions without a time": 1, "times missing": 1}),
        ({"session_2_date_time": "a day in June"}, 3, {"sessions without a time": 1, "times missing": 1}),
        ({"session_2_date_time": "9:05 am on 1 June, 1999"}, 3, {"times before the last": 1}),
        ({"session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": " "}]}, 2, {"empty messages": 1}),
        ({"session_2": [{"speaker": "Bo", "dia_id": "D2:1"}]}, 2, {"messages without a text": 1}),
        ({"session_2": [{"dia_id": "D2:1", "text": "Hm."}]}, 3, {"messages without a speaker": 1}),
        ({"session_2": [{"speaker": "Cy", "dia_id": "D2:1", "text": "Hm."}]}, 3, {"messages of a third speaker": 1}),
        ({"session_2": ["Hm."]}, 2, {"messages of another form": 1}),
        ({"session_2": [{"speaker": "Ada", "dia_id": "D1:1", "text": "I bought a red boat."}]}, 2, {"messages twice": 1}),
        ({"session_2": [{"speaker": "Ada", "dia_id": "D1:1", "text": "No, a blue one."}]}, 3, {"ids used twice": 1}),
    ],
)  # fmt: skip
def test_holes_in_a_conversation_are_counted(
    tmp_path: Path, change: dict[str, Any], turns: int, counted: dict[str, int]
) -> None:
    talk = only(written(tmp_path, [locomo(**change)]), "LoCoMo")
    assert len(talk.turns) == turns
    assert holes(talk) == counted
    assert sorted(talk.turns, key=lambda turn: turn.at) == list(talk.turns)


def test_a_sample_without_a_conversation_is_counted_with_the_file(tmp_path: Path) -> None:
    file = read_conversations(written(tmp_path, [{"sample_id": "x"}, locomo(), 3]))
    assert [talk.id for talk in file.conversations] == ["conv-1"]
    assert dict(file.holes) == {"samples without a conversation": 2}


def test_samples_of_one_name_are_told_apart(tmp_path: Path) -> None:
    file = read_conversations(written(tmp_path, [locomo(), locomo()]))
    assert [talk.id for talk in file.conversations] == ["conv-1", "conv-1 (2)"]
    assert dict(file.holes) == {"sample ids used twice": 1}


# --- DiscordChatExporter --------------------------------------------------------------------------------------------


def message(number: int, author: dict[str, Any], content: str, **more: Any) -> dict[str, Any]:
    at = f"2024-01-01T10:{number:02}:00.123+00:00"
    return {"id": str(number), "type": "Default", "timestamp": at, "content": content, "author": author, **more}


MIO = {"id": "7", "name": "mio_99", "nickname": "Mio", "isBot": False}
KAI = {"id": "9", "name": "kai", "nickname": "Mio", "isBot": False}
RIN = {"id": "8", "name": "Rin", "nickname": None, "isBot": True}


def discord(*messages: Any) -> dict[str, Any]:
    guild, channel = {"id": "1", "name": "A server"}, {"id": "2", "type": "GuildTextChat", "name": "tavern"}
    return {"guild": guild, "channel": channel, "messages": list(messages), "messageCount": len(messages)}


def test_a_discord_export_has_bots_as_characters(tmp_path: Path) -> None:
    picture = {"id": "5", "fileName": "cat.PNG", "url": "https://example.com/cat.PNG"}
    value = discord(
        message(1, MIO, "Hello", attachments=[picture, {"fileName": "a.txt"}]),
        message(2, RIN, "*waves*", type="Reply"),
        message(3, KAI, "Me too", timestamp="2024-01-01T19:03:00+09:00"),
    )
    talk = only(written(tmp_path, value), "DiscordChatExporter")
    assert (talk.id, talk.player, talk.character, holes(talk)) == ("tavern", "Mio", "Rin", {})
    assert [(t.id, t.speaker, t.by_character) for t in talk.turns] == [
        ("1", "Mio", False),
        ("2", "Rin", True),
        ("3", "Mio", False),
    ]
    assert talk.turns[0].pictures == ("cat.PNG",)
    assert talk.turns[2].at == datetime(2024, 1, 1, 10, 3, tzinfo=UTC)
    assert talk.turns[0].author != talk.turns[2].author, "two persons of one name"


def test_without_a_bot_whoever_wrote_most_is_the_character(tmp_path: Path) -> None:
    value = discord(message(1, MIO, "Hello"), message(2, KAI, "Hi"), message(3, KAI, "Well?"))
    talk = only(written(tmp_path, value), "DiscordChatExporter")
    assert [t.by_character for t in talk.turns] == [False, True, True]


def test_what_is_wrong_with_a_discord_export_is_counted(tmp_path: Path) -> None:
    value = discord(
        message(1, MIO, "Hello"),
        message(1, MIO, "Hello"),
        message(2, MIO, "", type="GuildMemberJoin"),
        message(3, RIN, ""),
        message(4, RIN, "Hi", timestamp="yesterday"),
        {"id": "5", "content": "Who?"},
        "what",
    )
    talk = only(written(tmp_path, value), "DiscordChatExporter")
    assert [t.text for t in talk.turns] == ["Hello", "Hi", "Who?"]
    assert holes(talk) == {
        "messages twice": 1,
        "messages of Discord itself": 1,
        "empty messages": 1,
        "times unreadable": 1,
        "messages without a speaker": 1,
        "times missing": 1,
        "messages of another form": 1,
    }


# --- SillyTavern ----------------------------------------------------------------------------------------------------

HEAD = {"user_name": "Mio", "character_name": "Rin", "create_date": "2024-7-12 @01h 31m 37s 123ms", "chat_metadata": {}}


def said(name: str, text: object, sent: object = "July 12, 2024 1:32am", **more: Any) -> dict[str, Any]:
    return {"name": name, "is_user": name == "Mio", "mes": text, "send_date": sent, **more}


def lines(*records: Any) -> str:
    return "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records) + "\n"


def test_a_tavern_chat_is_read_line_by_line(tmp_path: Path) -> None:
    records = (
        HEAD,
        said("Rin", "*looks up* Well?", swipes=["Oh.", "*looks up* Well?"], swipe_id=1),
        said("Mio", "Hello", "2024-07-12T01:33:00.000Z"),
        said("Kay", "Me too", 1720748100000),
    )
    talk = only(written(tmp_path, lines(*records), "Rin - 2024.jsonl"), "SillyTavern")
    assert (talk.id, talk.player, talk.character, holes(talk)) == ("Rin - 2024", "Mio", "Rin", {})
    assert [(t.speaker, t.text, t.by_character) for t in talk.turns] == [
        ("Rin", "*looks up* Well?", True),
        ("Mio", "Hello", False),
        ("Kay", "Me too", True),
    ]
    assert [f"{t.at:%H:%M}" for t in talk.turns] == ["01:32", "01:33", "01:35"]


def test_what_is_wrong_with_a_tavern_chat_is_counted(tmp_path: Path) -> None:
    records = (
        said("Rin", "Well?"), said("Rin", "Well?"), '{"name": "Rin", "mes', said("Mio", "Hi", ""),
        said("Rin", "A note", is_system=True), said("Mio", 5), said("Rin", ""),
    )  # fmt: skip
    talk = only(written(tmp_path, lines(*records), "chat.jsonl"), "SillyTavern")
    assert [t.text for t in talk.turns] == ["Well?", "Hi"]
    assert holes(talk) == {
        "no line of metadata": 1,
        "messages twice": 1,
        "lines unreadable": 1,
        "times missing": 1,
        "messages of the system": 1,
        "messages without a text": 1,
        "empty messages": 1,
    }


@pytest.mark.parametrize(
    "value",
    [
        "2024-7-12 @01h 31m 37s 123ms", "2024-07-12@01h31m37s", "July 12, 2024 1:31am", "2024-07-12T01:31:00Z",
        "2024-07-12T10:31:59.1234567+09:00", "1:31 am on 12 July, 2024", "2024-07-12 01:31:00", 1720747867123,
        1720747867, "1720747867123",
    ],
)  # fmt: skip
def test_times_are_read_in_every_form(value: object) -> None:
    found = written_time(value)
    assert found is not None
    assert f"{found:%Y-%m-%d %H:%M}" == "2024-07-12 01:31"


@pytest.mark.parametrize(
    "value", [None, "", "soon", True, [], float("nan"), float("inf"), 10**30, "2024-13-45@99h1m1s"]
)
def test_what_is_no_time_is_none(value: object) -> None:
    assert written_time(value) is None


# --- our own export -------------------------------------------------------------------------------------------------


async def test_our_own_export_is_read_as_it_is_written(tmp_path: Path) -> None:
    async with scripted_model(lambda _purpose, _message: '*smiles* "Come in."') as address:
        settings = settings_for(address, tmp_path / "story.db", {})
        async with open_core(settings) as core:
            await core.characters.create(Scope(1, 9), Card("Rin", "A keeper."), "")
            session = (await core.engine.start_session(Place(1, 2), Scope(1, 9), "Rin", greeting=False)).session
            at = datetime(2026, 1, 1, tzinfo=UTC)
            await core.engine.hear(PlayerMessage(5, 2, 7, "Mio", "Hello", at))
            await core.engine.reply(session.id)
    text = await export_session(settings.database_url, session.id, "json")
    assert text is not None
    talk = only(written(tmp_path, text), "Kataribe")
    assert (talk.id, talk.player, talk.character, talk.description) == ("session 1", "Mio", "Rin", "A keeper.")
    assert [(t.speaker, t.text, t.by_character) for t in talk.turns] == [
        ("Mio", "Hello", False),
        ("Rin", '*smiles* "Come in."', True),
    ]
    assert holes(talk) == {}

    value = json.loads(text)
    value["turns"] += [value["turns"][0], {**value["turns"][0], "state": "aside"}, "gone"]
    talk = only(written(tmp_path, value), "Kataribe")
    assert len(talk.turns) == 2
    assert holes(talk) == {"messages twice": 1, "turns that were taken back": 1, "turns of another form": 1}


# --- no conversation ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "holds no conversation that is known here"),
        ("hello\nyou\n", "holds no conversation that is known here"),
        ('{"a": 1}', "holds no conversation that is known here"),
        ("[" * 100_000, "holds no conversation that is known here"),
        (json.dumps(discord()), "nobody says anything in it"),
        (json.dumps([locomo(session_1=[], session_2=[])]), "nobody says anything in it"),
        (json.dumps(HEAD), "nobody says anything in it"),
    ],
)
def test_a_file_without_a_conversation_is_refused_in_a_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConversationUnreadable, match=reason) as caught:
        read_conversations(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(ConversationUnreadable, match="cannot be read"):
        read_conversations(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConversationUnreadable, match="not in UTF-8"):
        read_conversations(tmp_path / "bytes.json")
