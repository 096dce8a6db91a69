"""Cards in and out: every form of the specifications, and nothing lost on the way."""

from __future__ import annotations

import base64
import copy
import io
import json
from dataclasses import replace
from typing import Any, Literal

import pytest
from PIL import Image

from bot.cards import png
from bot.cards.card import CardFields, card_of, created, edited
from bot.cards.files import read_card, write_json, write_png
from bot.cards.kinds import Kind, NotACard
from tests.cards.making import (
    ENTRY,
    V1,
    V2,
    V3,
    animated,
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


def as_json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


def holds(whole: object, part: object) -> bool:
    """Whether everything in ``part`` is in ``whole``, where it was."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds(whole[key], part[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(holds, whole, part))
    return whole == part


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGB").tobytes()


def documents_in(data: bytes) -> dict[str, Any]:
    """The documents in a PNG as Pillow reads them, by keyword."""
    image = Image.open(io.BytesIO(data))
    image.load()
    texts = {key: value for key, value in image.info.items() if key in ("chara", "ccv3")}
    return {key: json.loads(base64.b64decode(value)) for key, value in texts.items()}


@pytest.mark.parametrize(("document", "spec"), [(V1, "v1"), (V2, "v2"), (V3, "v3")])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_json_of_each_version_is_read(document: dict[str, Any], spec: str, mark: bytes) -> None:
    file = read_card(mark + as_json(document), "mio.json")

    assert (file.spec, file.raw, file.picture) == (spec, document, None)
    assert file.card.name == "Mio"
    assert file.card.first_message == "The lamp is lit, {{user}}."


def test_each_field_is_where_it_belongs() -> None:
    card = read_card(as_json(V3), "mio.json").card

    assert card.called == "Mi"
    assert card.alternate_greetings == ("Second", "Third 灯台")
    assert card.group_only_greetings == ("All of you?",)
    assert card.system_prompt == "Stay in character. {{original}}"
    assert card.post_history_instructions == "Be brief."
    assert (card.creator, card.character_version, card.tags) == ("someone", "1.2", ("sea", "night"))
    assert [card.notes(language) for language in ("ja", "zh", "en")] == ["夜に。", "Best at night.", "Best at night."]
    assert card.book is not None
    assert card.book.entries[0].keys == ("/lamps?/i",)


@pytest.mark.parametrize("keyword", ["chara", "Chara", "CHARA", "ccv3", "CCv3"])
@pytest.mark.parametrize("make", [text_chunk, packed_chunk, international_chunk])
def test_a_card_in_each_kind_of_chunk_is_read(keyword: str, make: Any) -> None:
    file = read_card(png_with(make(keyword, encoded(V2))), "mio.png")

    assert (file.spec, file.raw) == ("v2", V2)
    assert file.picture is not None
    assert documents_in(file.picture) == {}
    assert pixels(file.picture) == pixels(picture())


def test_a_packed_international_chunk_is_read() -> None:
    assert read_card(png_with(international_chunk("ccv3", encoded(V3), packed=True)), "x.png").spec == "v3"


def test_v3_is_preferred_wherever_it_stands() -> None:
    file = read_card(png_with(text_chunk("chara", encoded(V2)), text_chunk("ccv3", encoded(V3))), "mio.png")

    assert file.spec == "v3"


def test_a_broken_v3_gives_way_to_v2() -> None:
    file = read_card(png_with(text_chunk("ccv3", b"e30"), text_chunk("chara", encoded(V2))), "mio.png")

    assert file.spec == "v2"


def test_an_animated_picture_stays_animated() -> None:
    file = read_card(png_with(text_chunk("chara", encoded(V2)), base=animated()), "mio.png")

    for data in (file.picture, write_png(file, "v3")):
        assert data is not None
        image = Image.open(io.BytesIO(data))
        assert getattr(image, "n_frames", 1) == 3


@pytest.mark.parametrize(
    "value",
    [
        encoded(V2).rstrip(b"="),
        encoded(V2).replace(b"+", b"-").replace(b"/", b"_"),
        b"\n".join(encoded(V2)[i : i + 76] for i in range(0, len(encoded(V2)), 76)),
        as_json(V2),
        base64.b64encode(b"\xef\xbb\xbf" + as_json(V2)),
    ],
    ids=["no padding", "for addresses", "in lines", "not encoded", "with a mark"],
)
def test_encodings_that_programs_write_are_read(value: bytes) -> None:
    assert read_card(png_with(text_chunk("chara", value)), "mio.png").raw == V2


def test_checksums_and_a_missing_end_do_not_matter() -> None:
    whole = png_with(chunk(b"tEXt", b"chara\0" + encoded(V2), crc=0))

    assert read_card(whole[:-12], "mio.png").card.name == "Mio"


def test_a_charx_gives_its_main_icon_and_says_what_is_left_out() -> None:
    icon = picture(colour="red")
    file = read_card(charx(main=icon, happy=picture(), sad=picture()), "mio.charx")

    assert (file.spec, file.picture, file.assets_left_out) == ("v3", icon, 2)
    written = json.loads(write_json(file, "v3"))
    assert [(asset["name"], asset["uri"]) for asset in written["data"]["assets"]] == [("main", "ccdefault:")]


@pytest.mark.parametrize("icon", [b"no picture", b""])
def test_a_charx_with_a_broken_icon_is_still_a_card(icon: bytes) -> None:
    file = read_card(charx(main=icon), "mio.charx")

    assert (file.card.name, file.picture, file.assets_left_out) == ("Mio", None, 1)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_a_charx_behind_a_picture_is_read_with_that_picture(form: str) -> None:
    front = picture(form, colour="green")
    file = read_card(front + archive({"card.json": as_json(V3)}), "mio.charx")

    assert (file.card.name, file.picture) == ("Mio", front)


def test_an_icon_within_the_document_is_its_picture() -> None:
    uri = "data:image/png;base64," + base64.b64encode(picture()).decode()
    assets = [{"type": "icon", "name": "main", "ext": "png", "uri": uri}]
    document = {**V3, "data": {**V3["data"], "assets": assets}}

    assert read_card(as_json(document), "mio.json").picture == picture()


def test_an_address_is_no_picture() -> None:
    assets = [{"type": "icon", "name": "main", "ext": "png", "uri": "https://example.org/mio.png"}]
    document = {**V3, "data": {**V3["data"], "assets": assets}}

    file = read_card(as_json(document), "mio.json")

    assert file.picture is None
    assert json.loads(write_json(file, "v3"))["data"]["assets"] == assets


@pytest.mark.parametrize("document", [V1, V2, V3])
@pytest.mark.parametrize("spec", ["v2", "v3"])
def test_everything_comes_out_again(document: dict[str, Any], spec: Literal["v2", "v3"]) -> None:
    before = copy.deepcopy(document)
    file = read_card(as_json(document), "mio.json")

    for data in (write_json(file, spec), write_png(file, spec)):
        again = read_card(data, "again")
        assert again.spec == spec
        assert holds(again.raw, {**document, "spec": f"chara_card_{spec}", "spec_version": f"{spec[1]}.0"})
        assert replace(again.card, book=None) == replace(file.card, book=None)
    assert file.raw == before


def test_from_v2_to_v3_and_back_loses_nothing() -> None:
    third = read_card(write_json(read_card(as_json(V2), "a"), "v3"), "b")
    second = read_card(write_json(third, "v2"), "c")

    assert holds(second.raw, V2)
    assert (second.spec, second.card) == ("v2", read_card(as_json(V2), "a").card)


def test_what_is_written_has_what_the_specification_demands() -> None:
    document = {"spec": "chara_card_v2", "data": {"name": "Mio", "alternate_greetings": "Hi", "character_book": None}}
    written = json.loads(write_json(read_card(as_json(document), "a"), "v3"))

    data = written["data"]
    assert (written["spec"], written["spec_version"]) == ("chara_card_v3", "3.0")
    assert data["alternate_greetings"] == ["Hi"]
    assert (data["group_only_greetings"], data["tags"], data["extensions"]) == ([], [], {})
    assert all(data[key] == "" for key in ("description", "first_mes", "mes_example", "creator", "system_prompt"))
    assert "character_book" not in data


def test_a_v3_picture_holds_both_documents_and_a_v2_one_only_its_own() -> None:
    content = "@@depth 4\n@@unknown\n\nThe lamp."
    book = {"extensions": {}, "entries": [{**ENTRY, "content": content, "use_regex": False}]}
    file = read_card(as_json({**V3, "data": {**V3["data"], "character_book": book}}), "mio.json")

    both = documents_in(write_png(file, "v3", picture()))
    alone = documents_in(write_png(file, "v2", picture()))

    assert {key: value["spec"] for key, value in both.items()} == {"chara": "chara_card_v2", "ccv3": "chara_card_v3"}
    assert both["ccv3"]["data"]["character_book"]["entries"][0]["content"] == content
    assert both["chara"]["data"]["character_book"]["entries"][0]["content"] == "The lamp."
    assert list(alone) == ["chara"]
    assert alone["chara"]["data"]["character_book"]["entries"][0]["content"] == content


def test_the_old_card_leaves_a_picture_that_gets_a_new_one() -> None:
    old = png_with(text_chunk("Chara", encoded(V2)), packed_chunk("ccv3", encoded(V3)))
    mended = write_png(created(CardFields("Rin", "a smith")), "v2", old)

    assert len(png.card_texts(mended)) == 1
    assert read_card(mended, "x.png").card.name == "Rin"


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "GIF"])
def test_another_kind_of_picture_is_converted(form: str) -> None:
    data = write_png(created(CardFields("Rin", "a smith")), "v3", picture(form, size=(30, 20)))

    assert Image.open(io.BytesIO(data)).size == (30, 20)
    assert read_card(data, "x.png").card.name == "Rin"


@pytest.mark.parametrize("broken", [None, b"no picture", picture()[:40], picture("JPEG")[:60]])
def test_without_a_good_picture_there_is_a_plain_one(broken: bytes | None) -> None:
    data = write_png(created(CardFields("Rin", "a smith")), "v3", broken)

    image = Image.open(io.BytesIO(data))
    image.load()
    assert image.size == (256, 384)
    assert len(data) < 20_000
    assert data == write_png(created(CardFields("Rin", "a smith")), "v3", broken)


def test_an_edit_reaches_the_document_and_only_what_it_is_about() -> None:
    mirrored = {**copy.deepcopy(V2), **V1, "creatorcomment": "Best at night."}
    file = read_card(as_json(mirrored), "mio.json")

    changed = edited(file, replace(file.card, name="Rin", creator_notes="At dawn.", alternate_greetings=("One",)))

    again = read_card(write_json(changed, "v2"), "x.json")
    assert (
        again.card
        == changed.card
        == replace(file.card, name="Rin", creator_notes="At dawn.", alternate_greetings=("One",))
    )
    assert (again.raw["name"], again.raw["creatorcomment"]) == ("Rin", "At dawn.")
    assert again.raw["data"]["extensions"] == V2["data"]["extensions"]
    assert file.raw["data"]["name"] == "Mio"


def test_a_character_made_here_is_a_card() -> None:
    card = CardFields("Rin", "a smith", tags=("forge",), first_message="Mind the sparks.")

    assert read_card(write_png(created(card), "v2"), "x.png").card == card


def test_odd_types_are_taken_for_what_they_mean() -> None:
    data = {
        "name": "  Mio\nthe Keeper ",
        "description": ["first", "second"],
        "first_mes": None,
        "alternate_greetings": "Only one",
        "tags": "sea, night ,",
        "character_version": 2,
        "creator_notes": "a\r\nb\0c",
        "character_book": {
            "scan_depth": "7",
            "token_budget": "0",
            "entries": {
                "0": {"keys": "lamp, /li{1,2}ght/i", "content": "x", "insertion_order": "5", "enabled": "true"},
                "1": 3,
            },
        },
    }
    card = card_of({"spec": "chara_card_v2", "data": data}).card

    assert (card.name, card.description, card.first_message) == ("Mio the Keeper", "first\nsecond", "")
    assert (card.alternate_greetings, card.tags, card.character_version) == (("Only one",), ("sea", "night"), "2")
    assert card.creator_notes == "a\nbc"
    assert card.book is not None
    assert (card.book.scan_depth, card.book.token_budget, len(card.book.entries)) == (7, None, 1)
    assert card.book.entries[0].keys == ("lamp", "/li{1,2}ght/i")
    assert (card.book.entries[0].order, card.book.entries[0].enabled) == (5, True)


@pytest.mark.parametrize("book", [None, [], "", {}, {"entries": None}, {"entries": [None, 3]}])
def test_an_empty_book_is_none(book: object) -> None:
    assert card_of({**V2, "data": {**V2["data"], "character_book": book}}).card.book is None


def test_a_nameless_card_is_named_after_its_file() -> None:
    document = {"spec": "chara_card_v2", "data": {"name": " ", "description": "keeps the lighthouse"}}

    file = read_card(as_json(document), "C:\\cards\\Mio of the Coast.json")

    assert (file.card.name, file.raw) == ("Mio of the Coast", document)
    assert read_card(write_png(file, "v3"), "other.png").card.name == "Mio of the Coast"


def test_half_a_character_does_not_stop_the_export() -> None:
    data = as_json(V2).replace(b"Best at night.", rb"\ud83d night \ud83d\ude00 \ude00")
    file = read_card(data, "mio.json")

    assert file.card.creator_notes == "? night 😀 ?"
    assert read_card(write_png(file, "v3"), "x").card == file.card


def test_numbers_that_json_does_not_know_are_nothing() -> None:
    data = as_json(V2).replace(b"0.5", b"NaN, 1e999, -Infinity, 1" + b"0" * 400)
    file = read_card(data, "mio.json")

    assert json.loads(write_json(file, "v2"))["data"]["extensions"]["ours/unknown"] == [None, None, None, 10**400, "x"]


NOT_CARDS: list[tuple[str, bytes, Kind]] = [
    ("a world", as_json({"entries": {"0": {"key": ["a"], "content": "b"}}}), Kind.WORLD),
    ("a world with a name", as_json({"name": "Coast", "description": "", "entries": [{"keys": ["a"]}]}), Kind.WORLD),
    ("a V3 lorebook", as_json({"spec": "lorebook_v3", "data": {"entries": []}}), Kind.WORLD),
    ("Risu's lorebook", as_json({"type": "risu", "ver": 1, "data": []}), Kind.WORLD),
    ("sampler settings", as_json({"temp": 0.7, "top_p": 1, "rep_pen": 1.1}), Kind.PRESET),
    ("a chat preset", as_json({"prompts": [{"name": "Main"}], "prompt_order": []}), Kind.PRESET),
    ("an instruct template", as_json({"name": "ChatML", "input_sequence": "<|im_start|>user"}), Kind.PRESET),
    ("a system prompt", as_json({"name": "Roleplay", "content": "Write on."}), Kind.PRESET),
    (
        "another dialect",
        as_json({"name": "Mio", "description": "d", "personality": "p", "firstMessage": "Hi"}),
        Kind.CAMEL,
    ),
    ("Pygmalion's", as_json({"char_name": "Mio", "char_persona": "calm", "char_greeting": "Hi"}), Kind.PLAIN),
    ("YAML", b"name: Mio\ngreeting: |-\n  Hi\ncontext: |-\n  Mio is calm.\n", Kind.PLAIN),
    ("prose", "ミオは灯台守。👨‍👩‍👧\n".encode(), Kind.TEXT),
    ("nothing", b"", Kind.TEXT),
    ("a package", as_json({"name": "left-pad", "description": "pads", "version": "1.0.0", "scripts": {}}), Kind.JSON),
    ("a list", as_json([V2]), Kind.JSON),
    ("a chat", as_json({"user_name": "A"}) + b"\n" + as_json({"mes": "hi"}) + b"\n", Kind.JSON),
    ("other JSON", as_json({"a": 1}), Kind.JSON),
    ("half a card", as_json(V2)[:-20], Kind.BROKEN),
    ("UTF-16", json.dumps(V2).encode("utf-16"), Kind.ENCODING),
    ("Shift JIS", json.dumps({"name": "灯台"}, ensure_ascii=False).encode("shift-jis"), Kind.ENCODING),
    ("bytes", bytes(range(256)) * 4, Kind.BROKEN),
    ("a picture", picture(), Kind.PICTURE),
    ("a photo", picture("JPEG"), Kind.PICTURE),
    (
        "a picture with other texts",
        png_with(text_chunk("name", b"Puro"), text_chunk("scenario", b"rain")),
        Kind.PICTURE,
    ),
    ("half a picture", picture()[:40], Kind.BROKEN),
    ("a picture with a world", png_with(text_chunk("chara", encoded({"entries": {}}))), Kind.WORLD),
    ("a picture with nonsense", png_with(text_chunk("chara", b"!!!")), Kind.BROKEN),
    ("an archive", archive({"readme.txt": b"hi"}), Kind.ARCHIVE),
    ("an empty archive", archive({}), Kind.ARCHIVE),
    ("a deeper card.json", archive({"mio/card.json": as_json(V3)}), Kind.ARCHIVE),
    ("half an archive", archive({"card.json": as_json(V3)})[:60], Kind.BROKEN),
    ("an empty card", as_json({**V2, "data": {**V2["data"], "name": "", "description": " \n"}}), Kind.EMPTY),
    ("an empty V1 card", as_json(dict.fromkeys(V1, "")), Kind.EMPTY),
    ("a card of nulls", as_json({"spec": "chara_card_v3", "data": dict.fromkeys(V1)}), Kind.EMPTY),
    ("a card without data", as_json({"spec": "chara_card_v2"}), Kind.EMPTY),
]


@pytest.mark.parametrize(("data", "kind"), [case[1:] for case in NOT_CARDS], ids=[case[0] for case in NOT_CARDS])
def test_what_is_no_card_is_called_what_it_is(data: bytes, kind: Kind) -> None:
    with pytest.raises(NotACard) as caught:
        read_card(data, "file")

    assert (caught.value.kind, caught.value.code) == (kind, kind.value)
