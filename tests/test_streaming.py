"""What players see of a reply that is being written: never what turns out to be thought, said aside, or JSON."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory import markup
from bot.streaming import visible


def final(raw: str) -> str:
    """What players see of the whole reply."""
    return markup.shown(raw, markup.parse_reply(raw, "Rin"), "Rin")


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def heads(raw: str) -> list[str]:
    """What is shown after each character."""
    return [visible(raw[:length], "Rin") for length in range(len(raw) + 1)]


def beat(kind: str, text: str, **more: str) -> dict[str, Any]:
    return {"kind": kind, "speaker": "Rin", "text": text, **more}


REPLIES = [
    "*She looks up.* “Who is there?” `XX XX.` She waits.",
    "Hi (( XX\nXX )) there.\n// XX XX\nThe end.",
    "[OOC: XX] Fine. (ooc: XX) Done.",
    "（XX）「誰？」と言う。（XX）\n終わり。",
    "A stray ` tick,\nthen `XX` and “speech.”",
    "```py\nx = 1\n```\nafter. `XX",
    "*a ` b* c `XX` d",
    json.dumps({"beats": [beat("thought", "XX."), beat("narration", "She walks."), beat("speech", 'A "b" 😀.')]}),
    json.dumps([{"text": "XX", "kind": "thought"}, {"kind": "speech", "text": "Said."}]),
    '{"beats": [{"kind": "thought", "text": "X\nX"}, {"kind": "speech", "text": "Said."}]}',
    '```json\n{"beats": [{"speaker": "Rin", "kind": "inner voice", "text": "XX"}]}\n```',
]


@pytest.mark.parametrize("raw", REPLIES)
def test_no_thought_shows_at_any_moment(raw: str) -> None:
    whole = letters(final(raw))

    assert "X" not in whole
    assert all(whole.startswith(letters(head)) for head in heads(raw))


@pytest.mark.parametrize("raw", REPLIES)
def test_no_json_shows_at_any_moment(raw: str) -> None:
    assert not any("beats" in head or "kind" in head for head in heads(raw))


def test_a_reply_is_shown_as_far_as_it_is_written() -> None:
    raw = json.dumps({"beats": [beat("narration", "She walks."), beat("speech", "Come on.", speaker="Mia")]})
    seen = heads(raw)

    assert "*She wal*" in seen
    assert "*She walks.*\n**Mia** “Com”" in seen
    assert seen[-1] == final(raw) == "*She walks.*\n**Mia** “Come on.”"


@pytest.mark.parametrize("keys", [("kind", "text"), ("speaker", "kind", "text"), ("text", "kind")])
def test_a_thought_in_a_list_behind_other_words_is_never_shown(keys: tuple[str, ...]) -> None:
    values = {"kind": "thought", "speaker": "Rin", "text": "I lied to her."}
    beats = [{key: values[key] for key in keys}, {"kind": "speech", "text": "Come."}]
    raw = "Sure! Here you are: " + json.dumps(beats)
    seen = heads(raw)

    assert seen[-1] == final(raw) == "“Come.”"
    assert not any("lied" in head or "{" in head for head in seen)


def test_a_single_thought_behind_other_words_is_never_shown() -> None:
    raw = "Sure!\n" + json.dumps(beat("thought", "I lied to her."))

    assert final(raw) == ""
    assert not any("lied" in head for head in heads(raw))


def test_words_before_the_json_go_when_it_comes() -> None:
    raw = "Sure!\n" + json.dumps({"beats": [beat("speech", "Come.")]})
    seen = heads(raw)

    assert seen[4] == "Sure"
    assert seen[-1] == "“Come.”"
    assert not any("{" in head for head in seen)


@given(st.lists(st.builds(beat, st.sampled_from(["narration", "speech", "thought"]), st.text(max_size=30)), max_size=4))
def test_what_is_shown_of_json_only_grows(beats: list[dict[str, Any]]) -> None:
    raw = json.dumps({"beats": [each | ({"text": "XX"} if each["kind"] == "thought" else {}) for each in beats]})
    whole = letters(final(raw))

    assert all(whole.startswith(letters(head)) for head in heads(raw))


PIECES = [
    "`",
    "X",
    "（",
    "）",
    "(",
    ")",
    "((",
    "))",
    "*",
    "_",
    '"',
    "“",
    "”",
    "「",
    "」",
    "\n",
    "//",
    "[ooc:",
    "]",
    "a",
    " ",
    ".",
]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_no_markup_shows_what_the_whole_reply_hides(raw: str) -> None:
    whole = final(raw).count("X")

    assert all(head.count("X") <= whole for head in heads(raw))
