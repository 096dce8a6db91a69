"""The second look at a chapter: what it is asked, and what code applies of the answer."""

from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.audit import (
    AuditAnswer,
    AuditVerdict,
    AuditWork,
    Finding,
    audit_messages,
    audit_schema,
    audit_work,
    is_audit,
    judge_audit,
    read_audit,
)
from bot.memory.memories import Chapter, Memory, MemoryKind, MemoryStatus, SessionMemory
from bot.memory.turns import Turn, TurnState
from bot.memory.wording import WORDINGS, Language
from tests.memory.builders import cites, memory, reply, said

CHAPTER = Chapter(2, 10, 30)
TURNS = [
    said(10, "Mio", "I am a nurse from Port Hale."),
    reply(
        11, "Rin",
        ("speech", "I was an admiral of the northern fleet."),
        ("narration", "She polishes the brass wheel until it shines."),
        ("thought", "Nobody must learn that the compass is broken."),
        ("narration", "The harbour bell rings. “I own every lighthouse!” she says."),
        ("ooc", "brb"),
    ),
    reply(12, "Rin", ("speech", "Suppose I were the queen of the lighthouse.")),
    said(13, "Mio", '*Mio mends the broken sail.* "There. The sail holds."'),
    reply(14, "Rin", ("speech", "The wheel shines, as anyone can see."), ("narration", "The letter burns to ash.")),
]  # fmt: skip


def look(
    *rows: Memory, claims: dict[int, tuple[str, ...]] | None = None, closed: dict[int, tuple[str, ...]] | None = None,
    turns: list[Turn] = TURNS,
) -> AuditVerdict:  # fmt: skip
    """What becomes of findings on a chapter that holds some memories."""
    work = audit_work(SessionMemory((Chapter(1, 1, 9), CHAPTER), rows), CHAPTER, turns)
    return judge_audit(work, AuditAnswer(_findings(claims or {}), _findings(closed or {})))


def _findings(found: dict[int, tuple[str, ...]]) -> tuple[Finding, ...]:
    return tuple(Finding(number, cites(*where)) for number, where in found.items())


def line(
    text: str, *cited: str, kind: MemoryKind = MemoryKind.FACT, number: int = 7, corrected: bool = False
) -> Memory:
    return memory(number, text, kind, cited=cited, chapter=2, corrected=corrected)


def end(text: str, *cited: str, number: int = 3, chapter: int = 1, corrected: bool = False) -> Memory:
    return memory(number, text, MemoryKind.LOOSE_END, cited=cited, chapter=chapter, corrected=corrected)


@pytest.mark.parametrize("kind", [MemoryKind.FACT, MemoryKind.EVENT])
def test_a_line_that_only_words_show_becomes_a_claim_of_who_says_them(kind: MemoryKind) -> None:
    stated = replace(line("Rin was an admiral of the northern fleet.", "11.2", kind=kind), version=3)
    stated = replace(stated, content=replace(stated.content, player_id=11))

    verdict = look(stated, claims={7: ("11.1", "11.2")})

    (changed,) = verdict.claims
    assert (changed.kind, changed.content.speaker, changed.content.player_id) == (MemoryKind.CLAIM, "Rin", None)
    assert (changed.content.text, changed.version, changed.status) == (stated.content.text, 4, MemoryStatus.ACTIVE)
    assert (changed.cites, changed.chapter, changed.corrected) == (stated.cites, 2, False)
    assert (verdict.flagged, sum(verdict.dropped.values())) == ((), 0)


@pytest.mark.parametrize(
    ("row", "cited", "outcome"),
    [
        (line("Rin polishes the brass wheel.", "11.2"), ("14.1",), "flagged"),
        (line("The compass is broken.", "11.3"), ("11.1",), "no-evidence"),
        (line("The broken compass shines.", "11.3"), ("14.1",), "flagged"),
        (line("Mio is a nurse.", "10.1"), ("10.1",), "flagged"),
        (line("Mio mends the sail.", "13.1"), ("13.2",), "flagged"),
        (line("Rin was an admiral.", "11.2"), ("11.2",), "no-evidence"),
        (line("Rin was an admiral.", "11.2"), ("11.3",), "no-evidence"),
        (line("Rin was an admiral.", "11.2"), ("11.5",), "no-evidence"),
        (line("Rin was an admiral.", "11.2"), ("99.1", "11.9"), "no-evidence"),
        (line("Rin was an admiral.", "11.2"), (), "no-evidence"),
        (line("Rin is the queen of the lighthouse.", "11.2"), ("12.1",), "no-evidence"),
        (line("Rin owns every lighthouse.", "11.2"), ("11.4",), "claim"),
        (line("Rin was an admiral.", "11.2", corrected=True), ("11.1",), "not-asked"),
        (line("Rin was an admiral.", "11.2", kind=MemoryKind.SECRET), ("11.1",), "not-asked"),
        (replace(line("Rin was an admiral.", "11.2"), status=MemoryStatus.STALE), ("11.1",), "not-asked"),
        (replace(line("Rin was an admiral.", "11.2"), chapter=1), ("11.1",), "not-asked"),
        (line("Rin was an admiral.", "11.2", number=8), ("11.1",), "not-asked"),
    ],
)
def test_evidence_decides_what_a_claim_is(row: Memory, cited: tuple[str, ...], outcome: str) -> None:
    verdict = look(row, claims={7: cited})
    got = "claim" if verdict.claims else "flagged" if verdict.flagged else next(iter(verdict.dropped))
    assert got == outcome
    assert verdict.flagged in ((), (7,))


@pytest.mark.parametrize(
    ("lie", "told", "honest", "language"),
    [
        ("リンは北方艦隊の提督だった。", "「私は北方艦隊の提督だったのよ」", "彼女は真鍮の舵輪を磨いている。", "ja"),
        ("凛曾是北方舰队的提督。", "“我曾是北方舰队的提督。”", "她把黄铜舵轮擦得发亮。", "zh"),
    ],
)
def test_a_claim_is_told_in_every_language(lie: str, told: str, honest: str, language: Language) -> None:
    name = "リン" if language == "ja" else "凛"
    turns = [reply(10, name, ("narration", honest)), reply(11, name, ("speech", told.strip("「」“”")))]
    lied, true = line(lie, "10.1"), line(honest.replace("彼女", name).replace("她", name), "10.1", number=8)

    verdict = look(lied, true, claims={7: ("11.1",), 8: ("11.1",)}, turns=turns)

    assert [(m.number, m.content.speaker) for m in verdict.claims] == [(7, name)]
    assert verdict.claims[0].content.text == lie


@pytest.mark.parametrize(
    ("row", "cited", "outcome"),
    [
        (end("Who wrote the letter?", "4.1"), ("14.2",), {3: 14}),
        (end("Who wrote the letter?", "4.1"), ("14.2", "13.1", "77.1"), {3: 14}),
        (end("Will the sail hold?", "11.2", chapter=2), ("13.2",), {3: 13}),
        (end("Will the sail hold?", "13.2", chapter=2), ("11.2",), "flagged"),
        (end("Will the sail hold?", "13.2", chapter=2), ("13.2",), "flagged"),
        (end("Will the sail hold?", "4.1"), ("77.1", "13.9"), "no-evidence"),
        (end("Will the sail hold?", "4.1"), ("11.5",), "no-evidence"),
        (end("Will the sail hold?", "4.1"), ("12.1",), "no-evidence"),
        (end("Will the sail hold?", "4.1"), (), "no-evidence"),
        (end("Will the sail hold?", "4.1", corrected=True), ("13.2",), "not-asked"),
        (replace(end("Will the sail hold?", "4.1"), status=MemoryStatus.RESOLVED), ("13.2",), "not-asked"),
        (line("Will the sail hold?", "4.1", number=3), ("13.2",), "not-asked"),
    ],
)
def test_a_loose_end_is_closed_by_a_later_beat_of_the_stretch(
    row: Memory, cited: tuple[str, ...], outcome: object
) -> None:
    verdict = look(row, closed={3: cited})
    fallen = "flagged" if verdict.flagged else next(iter(verdict.dropped), "")
    assert (verdict.resolved or fallen) == outcome
    assert not verdict.claims


def test_a_finding_counts_once() -> None:
    rows = (line("Rin was an admiral of the northern fleet.", "11.2"), end("Who wrote the letter?", "4.1"))
    work = audit_work(SessionMemory((CHAPTER,), rows), CHAPTER, TURNS)
    twice = AuditAnswer(_findings({7: ("11.1",)}) * 2, _findings({3: ("14.2",)}) * 2)
    verdict = judge_audit(work, twice)
    assert (len(verdict.claims), verdict.resolved, verdict.dropped) == (1, {3: 14}, {"not-asked": 2})


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_it_is_asked_with_numbered_lines_and_an_answer_of_that_form_fits(language: Language) -> None:
    rows = (
        line("Rin was an admiral.", "11.2"), line("Settled.", "11.2", number=8, corrected=True),
        end("Who wrote the letter?", "4.1"), line("“Aye.”", "11.1", number=9, kind=MemoryKind.QUOTE),
    )  # fmt: skip
    work = audit_work(SessionMemory((CHAPTER,), rows), CHAPTER, [*TURNS, replace(TURNS[0], state=TurnState.DELETED)])
    system, user = audit_messages(work, language)
    assert (system.role, system.content) == ("system", WORDINGS[language].audit)
    assert "[11.1 speech Rin] I was an admiral of the northern fleet." in user.content
    assert "#7 Rin was an admiral." in user.content
    assert "#3 Who wrote the letter?" in user.content
    assert "#8" not in user.content
    assert "#9" not in user.content
    assert user.content.count("[10.1 ") == 1
    schema = audit_schema(work)
    jsonschema.validate({"claims": [{"number": 7, "cites": ["11.1"]}], "closed": []}, schema)
    wrongs: list[dict[str, object]] = [
        {"claims": [{"number": 8, "cites": ["11.1"]}], "closed": []},
        {"claims": [{"number": 7, "cites": ["11.5"]}], "closed": []},
        {"claims": [{"number": 7, "cites": []}], "closed": []},
        {"claims": [], "closed": [{"number": 7, "cites": ["11.1"]}]},
        {"claims": []},
    ]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_there_is_nothing_to_look_at_without_turns_or_without_lines() -> None:
    row = line("Rin was an admiral.", "11.2")
    assert not audit_work(SessionMemory((CHAPTER,), (row,)), CHAPTER, [])
    assert not audit_work(SessionMemory((CHAPTER,)), CHAPTER, TURNS)
    assert audit_work(SessionMemory((CHAPTER,), (row,)), CHAPTER, TURNS)
    many = tuple(end(f"Who rang bell {n}?", "4.1", number=n) for n in range(1, 100))
    assert [m.number for m in audit_work(SessionMemory((CHAPTER,), many), CHAPTER, TURNS).ends] == [*range(60, 100)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"claims": [], "closed": []}, True),
        ({"claims": []}, False),
        ({"claims": {}, "closed": []}, False),
        ([], False),
        (None, False),
        ("claims", False),
    ],
)
def test_an_answer_of_another_form_is_none(value: object, expected: bool) -> None:
    assert is_audit(value) is expected
    assert read_audit(value) == AuditAnswer()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(["11.1", "14.2", "3"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.sampled_from(["claims", "closed", "number", "cites", "x"]), inner, max_size=4),
    max_leaves=25,
)  # fmt: skip
FOUND = st.fixed_dictionaries(
    {"number": st.integers(0, 12), "cites": st.lists(st.sampled_from(["4.1", "11.1", "11.2", "12.1", "13.2", "14.2", "9.9"]))}
)  # fmt: skip


@settings(max_examples=200)
@given(JSON | st.fixed_dictionaries({"claims": st.lists(FOUND | JSON), "closed": st.lists(FOUND | JSON)}))
def test_no_answer_breaks_it_or_makes_it_touch_more_than_it_was_asked_about(value: object) -> None:
    rows = (
        line("Rin was an admiral of the northern fleet.", "11.2", number=1),
        line("Rin polishes the brass wheel.", "11.2", number=2, kind=MemoryKind.EVENT),
        end("Who wrote the letter?", "4.1", number=3),
        line("Mio is a nurse.", "10.1", number=4),
        line("Rin was an admiral of the northern fleet.", "11.2", number=5, corrected=True),
        end("Will the sail hold?", "4.1", number=6, corrected=True),
        line("Rin was an admiral.", "11.1", number=7, kind=MemoryKind.QUOTE),
    )
    work: AuditWork = audit_work(SessionMemory((CHAPTER,), rows), CHAPTER, TURNS)
    verdict = judge_audit(work, read_audit(value))
    assert {m.number for m in verdict.claims} <= {1}
    assert set(verdict.resolved) <= {3}
    assert set(verdict.resolved.values()) <= {11, 13, 14}
    assert set(verdict.flagged) <= {1, 2, 3, 4}
