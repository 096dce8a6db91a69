"""Hostile files: each costs no more than the limits, and none brings more than an answer."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.cards.charx import MOST_ENTRIES
from bot.cards.documents import DEEPEST, LARGEST_FILE, LARGEST_TEXT, MOST_SIGNS, read_document
from bot.cards.files import read_card, write_json, write_png
from bot.cards.kinds import Kind, NotACard
from tests.cards.making import (
    V1,
    V2,
    V3,
    archive,
    charx,
    chunk,
    encoded,
    international_chunk,
    packed_chunk,
    picture,
    png_with,
    text_chunk,
)


def refusal(data: bytes) -> Kind:
    with pytest.raises(NotACard) as caught:
        read_card(data, "file")
    return caught.value.kind


def peak(work: Callable[[], object]) -> int:
    """The most bytes that were held at once meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def packed(size: int) -> bytes:
    """So many spaces, compressed."""
    compressor = zlib.compressobj(9)
    block = b" " * 2**20
    return b"".join(compressor.compress(block) for _ in range(size // 2**20)) + compressor.flush()


BOMB = packed(512 * 2**20)


@pytest.mark.parametrize(
    "bomb",
    [
        png_with(chunk(b"zTXt", b"chara\0\0" + BOMB)),
        png_with(chunk(b"iTXt", b"ccv3\0\1\0\0\0" + BOMB)),
        png_with(*[chunk(b"zTXt", b"chara\0\0" + packed(9 * 2**20))] * 200),
    ],
    ids=["zTXt", "iTXt", "many"],
)
def test_a_bomb_in_a_picture_costs_no_more_than_the_limit(bomb: bytes) -> None:
    assert len(bomb) < 4 * 2**20

    assert peak(lambda: refusal(bomb)) < 3 * LARGEST_TEXT
    assert refusal(bomb) is Kind.LARGE


@pytest.mark.parametrize(("kind", "head"), [(b"zTXt", b"chara\0\0"), (b"iTXt", b"ccv3\0\1\0\0\0")])
def test_bombs_that_break_at_their_end_are_not_all_unpacked(kind: bytes, head: bytes) -> None:
    broken = zlib.compress(b" " * (LARGEST_TEXT - 100), 9)[:-4] + b"\xff" * 4
    data = png_with(*[chunk(kind, head + broken)] * 60)
    start = time.process_time()

    assert refusal(data) is Kind.BROKEN
    assert time.process_time() - start < 1


def test_a_bomb_in_an_archive_costs_no_more_than_the_limit() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made, made.open("card.json", "w") as card:
        for _ in range(64):
            card.write(b" " * 2**20)
    claimed = out.getvalue()
    # The same, which claims to be small: the sizes in the directory are not to be believed.
    size = (64 * 2**20).to_bytes(4, "little")
    lying = claimed.replace(size, (100).to_bytes(4, "little"))

    for bomb in (claimed, lying):
        assert peak(lambda bomb=bomb: refusal(bomb)) < 4 * LARGEST_TEXT  # type: ignore[misc]
    assert refusal(claimed) is Kind.LARGE
    assert refusal(lying) in (Kind.BROKEN, Kind.LARGE)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_zipfile_does_not_bound_is_not_unpacked(method: int) -> None:
    assert refusal(archive({"card.json": json.dumps(V3).encode()}, method=method)) is Kind.BROKEN


def test_an_archive_of_too_many_files_is_refused_before_they_are_listed() -> None:
    files = {f"assets/{number}": b"" for number in range(MOST_ENTRIES)}
    data = archive({"card.json": json.dumps(V3).encode(), **files}, method=zipfile.ZIP_STORED)

    assert refusal(data) is Kind.LARGE


def test_an_archive_that_unpacks_to_too_much_is_refused() -> None:
    files = {f"assets/{number}": b"\0" * 33 * 2**20 for number in range(4)}

    assert refusal(archive({"card.json": json.dumps(V3).encode(), **files})) is Kind.LARGE


def test_an_archive_under_a_password_is_refused() -> None:
    data = bytearray(archive({"card.json": json.dumps(V3).encode()}))
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1

    assert refusal(bytes(data)) is Kind.BROKEN


def test_a_file_over_the_limit_is_refused_unread() -> None:
    data = b"{" + b" " * LARGEST_FILE

    assert peak(lambda: refusal(data)) < 2**16
    assert refusal(data) is Kind.LARGE


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_depth_is_counted_to_the_level(opening: str) -> None:
    def nested(levels: int) -> bytes:
        closing = "]" if opening == "[" else "}"
        return json.dumps({**V1, "x": 0}).replace('"x": 0', f'"x": {opening * levels}1{closing * levels}').encode()

    assert read_card(nested(DEEPEST - 1), "mio.json").card.name == "Mio"
    assert refusal(nested(DEEPEST)) is Kind.DEEP
    assert refusal(nested(200_000)) in (Kind.DEEP, Kind.LARGE)


def test_brackets_within_texts_are_no_levels() -> None:
    text = '["\\"[{' * 5_000

    assert read_document(json.dumps({"a": text}).encode()) == {"a": text}


@pytest.mark.parametrize(
    "data",
    [b"[" * 2**20, b'{"a":' * 100_000, b'"' + b'\\"' * 2**22, b'{"a":"' + b"\\" * 2**22, b'{"' * 100_000],
    ids=["brackets", "objects", "quotes", "backslashes", "openings"],
)
def test_what_never_ends_is_broken_and_quickly_so(data: bytes) -> None:
    start = time.process_time()

    assert refusal(data) in (Kind.BROKEN, Kind.LARGE, Kind.TEXT)
    assert time.process_time() - start < 3


def test_a_small_file_cannot_become_many_objects() -> None:
    data = png_with(packed_chunk("chara", b'{"name":"Mio","x":[' + b"{}," * (5 * 2**20) + b"0]}"))

    assert len(data) < 100_000
    assert peak(lambda: refusal(data)) < 6 * LARGEST_TEXT
    assert refusal(data) is Kind.LARGE


def test_a_large_lorebook_is_within_the_limits() -> None:
    entry = V2["data"]["character_book"]["entries"][0]
    extensions = {f"setting{number}": number for number in range(25)}
    book = {"entries": [{**entry, "extensions": extensions, "content": "words " * 500}] * 1_000, "extensions": {}}
    data = json.dumps({**V2, "data": {**V2["data"], "character_book": book}}).encode()

    assert data.count(b",") < MOST_SIGNS / 4
    card = read_card(data, "mio.json").card
    assert card.book is not None
    assert len(card.book.entries) == 1_000


SEEDS = [
    json.dumps(V1).encode(),
    json.dumps(V2, ensure_ascii=False).encode(),
    json.dumps(V3, indent=2).encode(),
    png_with(text_chunk("chara", encoded(V2)), packed_chunk("ccv3", encoded(V3))),
    png_with(international_chunk("ccv3", encoded(V3), packed=True), text_chunk("chara", json.dumps(V1).encode())),
    charx(main=picture(), happy=picture(colour="red")),
    picture("JPEG") + charx(main=picture()),
]
# Bytes that mean something in one of the formats, among all others.
MARKS = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"{",
    b"]",
    b'"',
    b"\\",
    b"null",
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"IEND",
    b"zTXt",
    b"\xed\xa0\x80",
]
CHANGES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.one_of(st.sampled_from(MARKS), st.binary(max_size=6))),
    min_size=1,
    max_size=8,
)


def changed(data: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    """The file with bytes taken out and put in at places given as shares of its length."""
    for share, taken, put in changes:
        at = int(share * len(data))
        data = data[:at] + put + data[at + taken :]
    return data


def survives(data: bytes) -> None:
    try:
        file = read_card(data, "mutated.png")
    except NotACard:
        return
    assert file.card.name
    for again in (read_card(write_json(file, "v3"), "x"), read_card(write_png(file, "v2"), "x")):
        assert replace(again.card, name="") == replace(file.card, name="")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.sampled_from(SEEDS), changes=CHANGES)
def test_a_mutated_file_is_a_card_or_called_what_it_is(seed: bytes, changes: list[tuple[float, int, bytes]]) -> None:
    survives(changed(seed, changes))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
ENTRY_KEYS = (
    "keys secondary_keys content enabled insertion_order extensions selective constant priority use_regex".split()
)
BOOKS = st.fixed_dictionaries(
    {},
    optional={
        "entries": JSON | st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(ENTRY_KEYS, JSON)), max_size=3),
        "scan_depth": JSON,
        "token_budget": JSON,
        "extensions": JSON,
    },
)
FIELDS = [*V2["data"], "nickname", "group_only_greetings", "creator_notes_multilingual", "assets"]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    document=st.fixed_dictionaries(
        {
            "spec": st.sampled_from(["chara_card_v2", "chara_card_v3", "chara_card_v9"]) | JSON,
            "data": st.fixed_dictionaries({}, optional={**dict.fromkeys(FIELDS, JSON), "character_book": BOOKS | JSON}),
        },
        optional={**dict.fromkeys(V1, JSON), "spec_version": JSON},
    )
)
def test_any_value_in_any_field_is_a_card_or_called_what_it_is(document: dict[str, object]) -> None:
    survives(json.dumps(document).encode())
