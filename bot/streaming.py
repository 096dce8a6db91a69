"""A reply while it is being written: what players may see of it so far."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from pydantic_core import from_json

from bot.memory import markup
from bot.memory.story import Character


class Draft:
    """What a model has written of a reply up to now; ``turn_id`` is the reply's place in the story, ``character`` who gives it.

    ``stirs`` is set with its first piece, which may be long in coming when others are served before, and by whoever ends it.
    """

    def __init__(self, character: Character, turn_id: int) -> None:
        self.character = character
        self.turn_id = turn_id
        self.stirs = asyncio.Event()
        self._pieces: list[str] = []

    def begin(self) -> None:
        """The reply is written from its beginning: what came before counts no more."""
        self._pieces.clear()

    def add(self, piece: str) -> None:
        """The model wrote on."""
        self._pieces.append(piece)
        self.stirs.set()

    def shown(self) -> str:
        """What players may see of it."""
        return visible("".join(self._pieces), self.character.card.name)


def visible(raw: str, character: str) -> str:
    """What players may see of a reply of which ``raw`` is written so far: nothing that may yet become a thought."""
    whole = _whole(raw)
    return markup.shown(whole, markup.parse_reply(whole, character), character)


def _whole(raw: str) -> str:
    """The reply as if it ended where it is settled."""
    part = markup.json_part(raw)
    if part is None:
        return markup.settled(raw)
    try:
        value = from_json(part, allow_partial="trailing-strings")
    except ValueError:
        return raw
    beats = value.get("beats", [value]) if isinstance(value, dict) else value
    if not isinstance(beats, list):
        return ""
    return json.dumps({"beats": beats if beats and _is_certain(beats[-1]) else beats[:-1]})


def _is_certain(beat: Any) -> bool:
    """Whether the newest beat's kind is known to its end: it is, once the text that follows it has begun."""
    if not isinstance(beat, dict):
        return isinstance(beat, str)
    keys = list(beat)
    return {"kind", "text"} <= beat.keys() and keys.index("kind") < keys.index("text")
