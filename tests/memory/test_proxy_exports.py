"""Exports of PluralKit and Tupperbox, whole and wrong."""

from __future__ import annotations

import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.memory.personas import Brackets, Draft, PersonaError
from bot.memory.proxy_exports import LARGEST_EXPORT, Export, ExportKind, Problem, Wrong, read_export

MEMBER: dict[str, Any] = {
    "id": "abcde",
    "name": "mio",
    "display_name": "Mio ✦",
    "description": "A ferrywoman.",
    "avatar_url": "https://example.invalid/mio.png",
    "proxy_tags": [{"prefix": "mio: ", "suffix": None}, {"prefix": "[", "suffix": "]"}, {"prefix": None}],
}
TUPPER: dict[str, Any] = {
    "id": 5,
    "name": "kai",
    "nick": None,
    "description": "A thief.",
    "avatar_url": "https://example.invalid/kai.png",
    "brackets": ["k:", "", "", "-k"],
    "group_id": 1,
}


def file(**document: object) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()


def members(*entries: object) -> Export:
    return read_export(file(version=1, tag="| us", members=entries, switches=[{"timestamp": "x", "members": []}]))


def code_of(data: bytes) -> tuple[str, dict[str, str | int]]:
    with pytest.raises(PersonaError) as refused:
        read_export(data)
    return refused.value.code, refused.value.fields


def test_a_member_of_pluralkit_comes_with_all_its_brackets() -> None:
    export = members(MEMBER)

    mio = Draft("Mio ✦", "A ferrywoman.", (Brackets("mio:", ""), Brackets("[", "]")))
    assert export == Export(ExportKind.PLURALKIT, (mio,), (), pictures=1)


def test_an_old_member_has_its_brackets_beside_its_name() -> None:
    assert members({"name": "Mio", "prefix": "m-", "suffix": ""}).drafts == (Draft("Mio", "", (Brackets("m-", ""),)),)


def test_a_tupper_comes_with_its_pairs_by_turns() -> None:
    export = read_export(b"\xef\xbb\xbf" + file(tuppers=[TUPPER, {**TUPPER, "nick": "Kai!", "brackets": ["", ""]}]))

    assert export.kind is ExportKind.TUPPERBOX
    first, second = export.drafts
    assert first == Draft("kai", "A thief.", (Brackets("k:", ""), Brackets("", "-k")))
    assert second == Draft("Kai!", "A thief.", ())


def test_personas_of_sillytavern_come_with_their_descriptions() -> None:
    about = {"a.png": {"description": "{{user}} is tall.", "position": 0}, "b.png": None}
    export = read_export(file(personas={"a.png": "Mio", "b.png": "Kai", "c.png": 5}, persona_descriptions=about))

    assert export.kind is ExportKind.SILLYTAVERN
    assert export.drafts == (Draft("Mio", "{{user}} is tall."), Draft("Kai"))
    assert export.problems == (Problem(3, "", Wrong.NO_NAME),)


def test_members_of_one_name_are_numbered() -> None:
    export = members({"name": "Mio"}, {"name": "MIO"}, {"name": "Mio (2)"}, {"name": "x" * 80}, {"name": "x" * 80})

    names = [draft.name for draft in export.drafts]
    assert names == ["Mio", "MIO (2)", "Mio (2) (2)", "x" * 80, "x" * 76 + " (2)"]


def test_each_wrong_entry_is_named_with_its_place_and_the_others_are_read() -> None:
    wrong = [
        ("Mio", Wrong.NOT_AN_ENTRY),
        ({"name": None}, Wrong.NO_NAME),
        ({"name": "\u0000", "display_name": "\u0000"}, Wrong.NO_NAME),
        ({"name": 5, "display_name": "Five"}, Wrong.NO_NAME),
        ({"name": "x" * 81}, Wrong.LONG_NAME),
        ({"name": "Talker", "description": "x" * 2_001}, Wrong.LONG_DESCRIPTION),
        ({"name": "Odd", "proxy_tags": "m:"}, Wrong.BRACKETS),
        ({"name": "Odd", "proxy_tags": [None]}, Wrong.BRACKETS),
        ({"name": "Odd", "proxy_tags": [{"prefix": "x" * 101}]}, Wrong.BRACKETS),
        ({"name": "Odd", "proxy_tags": [{"prefix": f"{n}:"} for n in range(21)]}, Wrong.BRACKETS),
    ]
    export = members(*(entry for entry, _ in wrong), MEMBER)

    assert [draft.name for draft in export.drafts] == ["Mio ✦"]
    assert [(problem.entry, problem.wrong) for problem in export.problems] == [
        (place, reason) for place, (_, reason) in enumerate(wrong, start=1)
    ]
    assert export.problems[5] == Problem(6, "Talker", Wrong.LONG_DESCRIPTION)
    assert export.problems[4].name == "x" * 40


@pytest.mark.parametrize("brackets", [["a:"], "a:", ["a:", {}], {"prefix": "a:"}])
def test_wrong_brackets_of_a_tupper_are_named(brackets: object) -> None:
    export = read_export(file(tuppers=[{**TUPPER, "brackets": brackets}]))

    assert export.problems == (Problem(1, "kai", Wrong.BRACKETS),)


def test_too_long_a_display_name_gives_way_to_the_name() -> None:
    assert members({**MEMBER, "display_name": "x" * 81}).drafts[0].name == "mio"


@pytest.mark.parametrize(
    "private", [{"description_privacy": "private"}, {"privacy": {"description_privacy": "private"}}]
)
def test_a_private_description_is_left_out_and_counted(private: dict[str, object]) -> None:
    export = members({**MEMBER, **private}, {**MEMBER, "name": "b", "display_name": None, "privacy": "private"})

    assert [draft.description for draft in export.drafts] == ["", "A ferrywoman."]
    assert export.withheld == 1


@pytest.mark.parametrize(
    ("data", "code", "fields"),
    [
        (b"", "persona-file-empty", {}),
        (b"\xef\xbb\xbf \n", "persona-file-empty", {}),
        (b"{}", "persona-file-other", {}),
        (b"[]", "persona-file-other", {}),
        (b"name: Mio", "persona-file-other", {}),
        (b'{"members": {"name": "Mio"}}', "persona-file-other", {}),
        (b'{"members": []}', "persona-file-nobody", {"program": "PluralKit"}),
        (b'{"personas": {}, "persona_descriptions": {}}', "persona-file-nobody", {"program": "SillyTavern"}),
        (b'{"personas": ["Mio"], "persona_descriptions": {}}', "persona-file-other", {}),
        (b'{"tuppers": []}', "persona-file-nobody", {"program": "Tupperbox"}),
        (b'{"spec": "chara_card_v2", "data": {}}', "persona-file-card", {}),
        (b'{"name": "Rin", "first_mes": "Hi"}', "persona-file-card", {}),
        (b'{\n "members": [\n  {"name": Mio}\n ]\n}', "persona-file-broken", {"line": 3, "column": 12}),
        (b'{"members": [', "persona-file-broken", {"line": 1, "column": 14}),
        (b'{\n"members": [{"name": "\xff"}]}', "persona-file-not-text", {"line": 2}),
        (b"[" * 100_000, "persona-file-other", {}),
        (b'{"members":' + b"[" * 490_000, "persona-file-other", {}),
        (b"[" * 600_000, "persona-file-large", {"most": 4}),
        (b'{"members": [' + b"0," * 600_000 + b"0]}", "persona-file-large", {"most": 4}),
        (b" " * (LARGEST_EXPORT + 1), "persona-file-large", {"most": 4}),
    ],
)
def test_a_file_that_is_no_export_is_refused_with_the_reason(data: bytes, code: str, fields: dict[str, Any]) -> None:
    assert code_of(data) == (code, fields)


def test_numbers_without_end_and_halves_of_characters_do_no_harm() -> None:
    data = b'{"members": [{"name": "Mi\\ud800o", "message_count": ' + b"9" * 6_000 + b', "x": 1e999, "y": NaN}]}'

    assert read_export(data).drafts == (Draft("Mio"),)


def test_the_largest_file_takes_bounded_memory() -> None:
    entry = b'{"a":[],"b":{}},'
    data = b'{"members":[' + entry * 99_000 + b"{}]}"
    data += b" " * (LARGEST_EXPORT - len(data))

    tracemalloc.start()
    try:
        export = read_export(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert len(export.problems) == 99_001
    assert peak < 100 * 2**20


@settings(max_examples=300)
@given(st.data())
def test_no_damage_to_a_file_does_more_than_refuse_it(data: st.DataObject) -> None:
    whole = bytearray(file(members=[MEMBER], tuppers=[TUPPER] if data.draw(st.booleans()) else None))
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place : place + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=4)) or b"\\"
    try:
        export = read_export(bytes(whole))
    except PersonaError:
        return
    assert len(export.drafts) + len(export.problems) >= 1
    assert all(draft.name for draft in export.drafts)


@pytest.mark.parametrize(
    "names",
    [["A"] * 30_000, [f"{'A' * 76}{number:04}" for number in range(5_000) for _ in range(2)]],
    ids=["one name", "names as long as can be"],
)
def test_names_are_told_apart_in_no_time(names: list[str]) -> None:
    data = json.dumps({"tuppers": [{"name": name} for name in names]}).encode()
    start = time.process_time()
    drafts = read_export(data).drafts

    assert time.process_time() - start < 3
    assert len({draft.name for draft in drafts}) == len(names)
    assert max(len(draft.name) for draft in drafts) <= 80


def test_a_number_that_a_name_has_already_is_left_out() -> None:
    drafts = read_export(file(tuppers=[{"name": name} for name in ("A", "A (2)", "A", "a", "A (2)")])).drafts

    assert [draft.name for draft in drafts] == ["A", "A (2)", "A (3)", "a (4)", "A (2) (2)"]
