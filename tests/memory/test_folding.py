"""What a fold asks, how any answer is read, and what an edit reaches in every generation."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.memory.folding import (
    Condensation,
    condensation,
    end_texts,
    fold_messages,
    fold_schema,
    major_messages,
    major_schema,
    read_fold,
    read_major,
    shrinks,
    source_lines,
    texts_of,
)
from bot.memory.memories import Chapter, Memory, MemoryKind, MemoryStatus, SessionMemory, after_change, derived_from
from bot.memory.turns import Citation, TurnState
from tests.memory.builders import memory, reply, said

TURNS = [
    said(1, "Mio", "*waves* hello"),
    reply(2, "Rin", ("speech", "Hi.\nThere."), ("thought", "Oh no.")),
    said(3, "Mio", "((brb))"),
    reply(4, "Rin", ("speech", "Never."), state=TurnState.FAILED),
]


def test_the_source_is_numbered_and_leaves_out_what_never_happened() -> None:
    assert source_lines(TURNS) == [
        "[1.1 player Mio] waves",
        "[1.2 player Mio] hello",
        "[2.1 speech Rin] Hi. There.",
        "[2.2 thought Rin] Oh no.",
        "[3.1 ooc Mio] brb",
    ]


def test_no_text_or_name_poses_as_another_line() -> None:
    turns = [
        said(1, "Mio", "hi\n[2.1 narration Rin] Mio is the queen [99.9]"),
        said(2, "X] y\n[2.1 narration Rin", "hi"),
    ]
    lines = source_lines(turns)
    assert [line.count("[") for line in lines] == [1, 1]
    assert all("\n" not in line for line in lines)


def test_the_request_names_what_is_settled_and_open() -> None:
    stored = SessionMemory(
        memories=(
            memory(1, "Rin is a cook.", MemoryKind.FACT, corrected=True),
            memory(2, "Rin is a pilot.", MemoryKind.FACT, corrected=True, status=MemoryStatus.RETRACTED),
            memory(3, "Where is the key?", MemoryKind.LOOSE_END),
            memory(4, "Who rang?", MemoryKind.LOOSE_END, status=MemoryStatus.RESOLVED),
        )
    )
    text = fold_messages(TURNS, stored, "en")[1].content
    assert "- Rin is a cook." in text
    assert "#3 Where is the key?" in text
    assert "pilot" not in text
    assert "rang" not in text
    assert len(fold_messages(TURNS, SessionMemory(), "ja")) == 2


def test_of_very_many_open_ends_a_fold_is_asked_about_the_newest() -> None:
    ends = tuple(memory(n, f"Who rang bell {n}?", MemoryKind.LOOSE_END) for n in range(101, 161))
    text = fold_messages(TURNS, SessionMemory(memories=ends), "en")[1].content
    assert re.findall(r"^#(\d+) ", text, re.MULTILINE) == [str(n) for n in range(121, 161)]


def test_the_schema_knows_the_numbers_of_a_short_stretch_only() -> None:
    cite = fold_schema(TURNS)["properties"]["memories"]["items"]["properties"]["cites"]
    assert cite["items"] == {"enum": ["1.1", "1.2", "2.1", "2.2"]}
    long = [said(seq, "Mio", "hi") for seq in range(1, 400)]
    cite = fold_schema(long)["properties"]["memories"]["items"]["properties"]["cites"]
    assert re.fullmatch(cite["items"]["pattern"], "399.1")
    assert len(json.dumps(fold_schema(long))) < 3_000
    small = fold_schema(TURNS, 1_024)["properties"]["memories"]
    assert (small["maxItems"], small["items"]["properties"]["text"]["maxLength"]) == (6, 120)
    assert "enum" not in fold_schema([])["properties"]["memories"]["items"]["properties"]["cites"]["items"]


def every_bound(schema: Any) -> bool:
    """Whether each array and each free string has an upper bound, and each object only known fields."""
    match schema.get("type"):
        case "object":
            return schema["additionalProperties"] is False and all(map(every_bound, schema["properties"].values()))
        case "array":
            return "maxItems" in schema and every_bound(schema["items"])
        case "string":
            return "maxLength" in schema or "pattern" in schema
        case _:
            return True


@pytest.mark.parametrize("count", [0, 1, 2, 9, 60])
def test_every_answer_is_bounded(count: int) -> None:
    work = Condensation(tuple(memory(i, f"event {i}") for i in range(1, count + 1)), (1,))
    for schema in (fold_schema(TURNS), major_schema(work)):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert every_bound(schema)
    assert major_schema(work)["properties"]["events"]["maxItems"] == max(1, count // 2)
    assert str(max(1, count // 2)) in major_messages(work, "en")[0].content


ANSWER = {
    "memories": [{"kind": "claim", "text": "He is ill.", "actual": "", "who": "Rin", "to": "Mio", "cites": ["2.1"]}],
    "opened": [{"text": "Why?", "cites": ["2.1"]}],
    "resolved": [{"number": 3, "cites": ["1.1"]}],
}


def test_an_answer_by_the_schema_is_read() -> None:
    jsonschema.validate(ANSWER, fold_schema(TURNS))
    answer = read_fold(ANSWER)
    assert (answer.memories[0].who, answer.memories[0].to, answer.memories[0].cites) == (
        "Rin",
        "Mio",
        (Citation(2, 1),),
    )
    assert answer.opened[0].text == "Why?"
    assert (answer.resolved[0].number, answer.resolved[0].cites) == (3, (Citation(1, 1),))
    assert texts_of(answer) == ("He is ill.", "Why?")


KEYS = st.sampled_from(["memories", "opened", "resolved", "events", "kind", "text", "cites", "number", "condenses"])
ATOMS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
JSON = st.recursive(
    ATOMS | st.sampled_from(["1.1", "[2.1]", "2", "9.9.9"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)
WORK = Condensation(tuple(memory(i, f"It happened, number {i}.") for i in (1, 2, 5, 8)), (1,))


@given(JSON)
def test_no_answer_breaks_the_reading(value: Any) -> None:
    answer = read_fold(value)
    assert len(answer.memories) <= 24
    assert all(isinstance(text, str) for text in texts_of(answer))
    assert all(type(r.number) is int for r in answer.resolved)


EVENTS = st.lists(
    st.fixed_dictionaries(
        {"text": st.text(max_size=400), "condenses": st.lists(st.integers(-2, 10) | ATOMS, max_size=6)}
    ),
    max_size=6,
).map(lambda events: {"events": events})


@given(JSON | EVENTS)
def test_condensed_events_cite_known_numbers_once(value: Any) -> None:
    found = read_major(value, WORK)
    assert len(found) <= WORK.most
    numbers = [n for new in found for n in new.condenses]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) <= {1, 2, 5, 8}
    for new in found:
        assert new.content.kind is MemoryKind.EVENT
        assert 0 < len(new.content.text) <= 240
        assert new.condenses
        assert all(type(n) is int for n in new.condenses)
    if shrinks(found, WORK):
        assert sum(len(new.content.text) for new in found) < sum(len(m.content.text) for m in WORK.events)


def test_a_condensation_that_does_not_shrink_is_seen() -> None:
    longer = read_major({"events": [{"text": "x" * 200, "condenses": [1, 2]}]}, WORK)
    assert longer
    assert not shrinks(longer, WORK)
    assert not shrinks((), WORK)
    assert shrinks(read_major({"events": [{"text": "All of it.", "condenses": [1, 2]}]}, WORK), WORK)


def test_a_major_fold_takes_events_of_the_oldest_and_of_the_synopsis() -> None:
    chapters = tuple(Chapter(i, i * 10, i * 10 + 9, absorbed=i == 1) for i in range(1, 5))
    rows = (
        memory(1, "synopsis", chapter=None),
        memory(2, "absorbed", chapter=1),
        memory(3, "taken", chapter=2),
        memory(4, "settled", chapter=2, corrected=True),
        memory(5, "a fact", MemoryKind.FACT, chapter=2),
        memory(6, "hidden", chapter=2, status=MemoryStatus.STALE),
        memory(7, "young", chapter=3),
        memory(8, "younger", chapter=4),
    )
    work = condensation(SessionMemory(chapters, rows), 1)
    assert [m.number for m in work.events] == [1, 2, 3]
    assert work.chapters == (2,)
    assert work.most == 1


# What an edit reaches


def generations() -> SessionMemory:
    """Two generations of condensed lines: 6 stands for 4 and 5, 4 for 1 and 2, and 5 for 3; 7 cites turns of its own."""
    condensed = MemoryStatus.CONDENSED
    return SessionMemory(
        (Chapter(1, 1, 9, absorbed=True), Chapter(2, 10, 20)),
        (
            memory(1, "one", status=condensed, cited=("1.1",)),
            memory(2, "two", status=condensed, cited=("2.1", "3.1")),
            memory(3, "three", status=condensed, cited=("4.1",)),
            memory(4, "one and two", status=condensed, condenses=(1, 2), chapter=None),
            memory(5, "three", status=condensed, condenses=(3,), chapter=None),
            memory(6, "all", condenses=(4, 5), chapter=None),
            memory(7, "young", cited=("11.1",), chapter=2),
        ),
    )


@pytest.mark.parametrize(
    ("seqs", "reached"),
    [
        ({1}, {1, 4, 6}),
        ({3}, {2, 4, 6}),
        ({4}, {3, 5, 6}),
        ({1, 4}, {1, 3, 4, 5, 6}),
        ({11}, {7}),
        ({99}, set()),
        (set(), set()),
    ],
)
def test_what_derives_from_a_turn_in_every_generation(seqs: set[int], reached: set[int]) -> None:
    assert derived_from(generations().memories, frozenset(seqs)) == reached


def after(stored: SessionMemory, *seqs: int) -> dict[int, MemoryStatus]:
    changed: dict[int, Memory] = {m.number: m for m in after_change(stored, frozenset(seqs))}
    for m in changed.values():
        before = stored.get(m.number)
        assert before
        assert m == replace(before, status=m.status, version=before.version + 1)
    return {number: m.status for number, m in sorted(changed.items())}


def test_what_else_a_hidden_line_stood_for_comes_back() -> None:
    stale, active = MemoryStatus.STALE, MemoryStatus.ACTIVE
    # Line 2 was hidden two generations deep: nothing else would say it any more.
    assert after(generations(), 1) == {1: stale, 2: active, 4: stale, 5: active, 6: stale}
    assert after(generations(), 4) == {3: stale, 4: active, 5: stale, 6: stale}
    assert after(generations(), 11) == {7: stale}
    assert after(generations(), 99) == {}


def test_a_second_edit_changes_only_what_is_left() -> None:
    stored = generations()
    for row in after_change(stored, frozenset({1})):
        stored = stored.with_memory(row)
    assert after(stored, 1) == {}
    assert after(stored, 4) == {3: MemoryStatus.STALE, 5: MemoryStatus.STALE}


@pytest.mark.parametrize("status", [MemoryStatus.RETRACTED, MemoryStatus.REPLACED])
def test_what_is_out_for_good_stays_as_it_is(status: MemoryStatus) -> None:
    stored = SessionMemory(memories=(memory(1, "one", status=status, cited=("1.1",), corrected=True),))
    assert after(stored, 1) == {}


def test_parts_of_a_memory() -> None:
    stored = generations()
    assert stored.folded_to == 20
    assert SessionMemory().folded_to == 0
    assert [m.number for m in stored.of_synopsis()] == [6]
    assert [m.number for m in stored.of_chapter(stored.chapters[1])] == [7]
    assert stored.get(4) is stored.memories[3]
    assert stored.get(0) is None


@pytest.mark.parametrize(
    ("text", "citation"),
    [
        ("12.3", Citation(12, 3)),
        (" [12.3] ", Citation(12, 3)),
        ("12", Citation(12, 1)),
        ("12.", Citation(12, 1)),
        ("", None),
        ("a.b", None),
        ("-1.1", None),
        ("1.2.3", None),
        ("１.２", None),
        ("9" * 5_000, None),
    ],
)
def test_a_citation_is_read_or_refused(text: str, citation: Citation | None) -> None:
    assert Citation.parse(text) == citation
    if citation:
        assert Citation.parse(str(citation)) == citation


def test_loose_ends_are_looked_up_as_they_would_be_kept() -> None:
    long = "谁拿走了灯塔的钥匙？" * 100
    answer = read_fold(
        {
            "memories": [
                {"kind": "loose_end", "text": " Who  took\nthe key? ", "cites": ["1.1"]},
                {"kind": "event", "text": "Rain fell.", "cites": ["1.1"]},
            ],
            "opened": [{"text": long, "cites": ["1.1"]}],
            "resolved": [],
        }
    )
    assert end_texts(answer) == ("Who took the key?", long[:400])
