"""Cards in, cards out: JSON, PNG and APNG, .charx."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from bot.cards import png
from bot.cards.card import CardFile, Written, backfilled, card_of, document_of
from bot.cards.charx import data_icon, has_archive, read_charx
from bot.cards.documents import LARGEST_FILE, read_document, read_encoded, written
from bot.cards.kinds import Kind, NotACard, is_picture


def read_card(data: bytes, filename: str) -> CardFile:
    """The card in a file. The content says of what form it is; the name of the file names a character without one.

    Blocks while it computes: call it in a thread. Raises NotACard, whose kind says what the file is instead.
    """
    if len(data) > LARGEST_FILE:
        raise NotACard(Kind.LARGE)
    name = PurePosixPath(filename.replace("\\", "/")).stem
    if data.startswith(png.SIGNATURE):
        texts = png.card_texts(data)
        if texts:
            return _first_card(texts, name, png.without_cards(data))
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or (is_picture(data) and has_archive(data)):
        return read_charx(data, name)
    if is_picture(data):
        raise NotACard(Kind.PICTURE if not data.startswith(png.SIGNATURE) or png.is_whole(data) else Kind.BROKEN)
    document = read_document(data)
    return card_of(document, name=name, picture=data_icon(document))


def write_json(file: CardFile, spec: Written) -> bytes:
    """The card as JSON of this version, with everything that was in it."""
    return written(document_of(file, spec))


def write_png(file: CardFile, spec: Written, picture: bytes | None = None) -> bytes:
    """The card in a picture: this one, else the card's own, else a plain one.

    V3 stands beside a V2 document for older programs; V2 stands alone. Blocks while it converts a picture that is no PNG.
    """
    given = picture or file.picture
    base = (png.as_png(given) if given else None) or png.placeholder(file.card.name)
    cards = {"chara": written(document_of(file, "v2"))}
    if spec == "v3":
        cards = {"chara": written(backfilled(file)), "ccv3": written(document_of(file, "v3"))}
    return png.with_cards(base, cards)


def _first_card(texts: list[bytes], name: str, picture: bytes) -> CardFile:
    """The first text that is a card; when none is, what is wrong with the first."""
    wrong: NotACard | None = None
    for each in texts:
        try:
            return replace(card_of(read_encoded(each), name=name), picture=picture)
        except NotACard as error:
            wrong = wrong or error
    raise wrong or NotACard(Kind.PICTURE)
