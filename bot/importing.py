"""Old records of what a character keeps about a person become traits: a JSON list of strings, or of objects with figures.

No line is lost: whatever of a line cannot be used gets a default, and is reported.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bot.errors import KataribeError
from bot.memory.fading import MOST, START
from bot.memory.markup import plain_name
from bot.memory.people import Trait
from bot.memory.story import Character
from bot.store import Store
from bot.store.health import require_current

# From then on Swift counts seconds. https://developer.apple.com/documentation/foundation/date/timeintervalsincereferencedate
_APPLE_EPOCH: Final = datetime(2001, 1, 1, tzinfo=UTC)
_LARGEST_ID: Final = 2**63 - 1
_MOST_MATCHES: Final = 1_000_000


class ImportImpossible(KataribeError):
    """Nothing was imported; says in a line why."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What of a line was not as it should be, and what was made of it; lines are counted from 1."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: the new traits, and those that an earlier import had brought."""

    character: Character
    player_name: str
    new: int
    known: int
    remarks: tuple[Remark, ...]


async def import_traits(
    database_url: str,
    path: Path,
    *,
    character: str,
    player_id: int,
    guild_id: int | None = None,
    name: str | None = None,
    now: datetime,
) -> Imported:
    """Add the traits of a file to what a character keeps about a player. A line that was imported before stays as it is.

    ``character`` is a number or a name, ``guild_id`` tells characters of the same name apart, and ``name`` is what the player
    is called. Raises ImportImpossible, DatabaseUnusable and DatabaseTooNew.
    """
    if not 0 < player_id <= _LARGEST_ID:
        raise ImportImpossible(f"{player_id} is no Discord id of a player.")
    traits, remarks = read_traits(_content(path), now)
    await require_current(database_url)
    store = await Store.open(database_url, migrate=False)
    try:
        chosen = await _chosen(store, character, guild_id)
        called = plain_name(name) if name else await store.player_name(chosen.id, player_id)
        if called is None:
            raise ImportImpossible(
                f"{chosen.card.name} has not met player {player_id} yet; say with --name what they are called."
            )
        new = await store.import_traits(chosen.id, player_id, called, keyed(traits))
    finally:
        await store.close()
    if new is None:
        raise ImportImpossible(f"Player {player_id} does not want to be remembered; nothing was imported.")
    return Imported(chosen, called, new, len(traits) - new, remarks)


def read_traits(content: bytes, now: datetime) -> tuple[tuple[Trait, ...], tuple[Remark, ...]]:
    """The traits in the content of a file, without ids, and what was wrong with them.

    Their decay is counted from ``now``: what they lost before, the old record says already. Raises ImportImpossible when the
    content is no list.
    """
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ImportImpossible(f"The file is no JSON: {' '.join(str(error).split())}.") from error
    if not isinstance(value, list):
        raise ImportImpossible("The file is no list of traits.")
    traits: list[Trait] = []
    remarks: list[Remark] = []
    for number, item in enumerate(value, start=1):
        line = _Line(item if isinstance(item, dict) else {"text": item}, now)
        trait = line.trait(has_figures=isinstance(item, dict))
        traits += [trait] if trait else []
        remarks += [Remark(number, what) for what in line.remarks]
    return tuple(traits), tuple(remarks)


def keyed(traits: Sequence[Trait]) -> dict[str, Trait]:
    """The traits by what tells one from all others, in any file: a digest of its text, and the how manieth of that text it is."""
    counts: Counter[str] = Counter()
    found = {}
    for trait in traits:
        digest = hashlib.sha256(unicodedata.normalize("NFC", trait.text).encode()).hexdigest()
        counts[digest] += 1
        found[f"{digest}-{counts[digest]}"] = trait
    return found


class _Line:
    """Reads one line, and writes down what is wrong with it."""

    def __init__(self, fields: Mapping[str, Any], now: datetime) -> None:
        self._fields = fields
        self._now = now
        self.remarks: list[str] = []

    def trait(self, *, has_figures: bool) -> Trait | None:
        """The trait; None when the line says nothing."""
        text = self._text()
        if not text:
            self.remarks.append("it is empty and was left out")
            return None
        importance = self._importance() if has_figures else START
        matches = self._matches() if has_figures else 1
        confirmed_at = self._confirmed_at() if has_figures else self._now
        return Trait(
            0, text, importance, matches,
            first_at=confirmed_at, confirmed_at=confirmed_at, faded_at=self._now,
            dormant_at=None if importance else self._now,
        )  # fmt: skip

    def _text(self) -> str:
        value = self._fields.get("text")
        if value is None:
            return ""
        if not isinstance(value, str):
            value = json.dumps(value, ensure_ascii=False)
            self.remarks.append("it is no text and was kept as it is written")
        # Half a character cannot be stored, and PostgreSQL does not take NUL.
        whole = (
            value.encode("utf-16", "surrogatepass")
            .decode("utf-16", "replace")
            .replace("\0", "\N{REPLACEMENT CHARACTER}")
        )
        return " ".join(whole.split())

    def _importance(self) -> int:
        dormant = self._fields.get("isDormant")
        if not isinstance(dormant, bool):
            self._wrong("isDormant", "false")
            dormant = False
        importance = self._whole("importance", START)
        if dormant or importance == 0:
            return 0
        return self._within("importance", importance, 1, MOST)

    def _matches(self) -> int:
        return self._within("matchCount", self._whole("matchCount", 1), 0, _MOST_MATCHES)

    def _confirmed_at(self) -> datetime:
        value = self._fields.get("lastConfirmedAt")
        at: datetime | None = None
        with suppress(ValueError, OverflowError):
            if isinstance(value, str):
                read = datetime.fromisoformat(value.strip())
                at = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                at = _APPLE_EPOCH + timedelta(seconds=value)
        if at is None:
            self._wrong("lastConfirmedAt", "now")
            return self._now
        if at > self._now:
            self.remarks.append("lastConfirmedAt is ahead; now was taken")
        return min(at, self._now)

    def _whole(self, field: str, default: int) -> int:
        value = self._fields.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(ValueError, OverflowError):
                return round(value)
        self._wrong(field, str(default))
        return default

    def _within(self, field: str, value: int, least: int, most: int) -> int:
        taken = min(max(value, least), most)
        if taken != value:
            self.remarks.append(f"{field} is not from {least} to {most}; {taken} was taken")
        return taken

    def _wrong(self, field: str, default: str) -> None:
        fault = "cannot be read" if field in self._fields else "is missing"
        self.remarks.append(f"{field} {fault}; {default} was taken")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImportImpossible(f"{path} cannot be read: {error.strerror}.") from error


async def _chosen(store: Store, named: str, guild_id: int | None) -> Character:
    """The one character that is meant. Raises ImportImpossible."""
    found = await store.characters_called(named, guild_id)
    if not found:
        where = f" in guild {guild_id}" if guild_id is not None else ""
        raise ImportImpossible(f"There is no character {named}{where}.")
    if len(found) > 1:
        raise ImportImpossible(
            f"Several characters are called {named}: {', '.join(_described(found))}; name its number."
        )
    return found[0]


def _described(characters: Sequence[Character]) -> Iterator[str]:
    for character in characters:
        scope = character.scope
        place = f"of user {scope.owner_id}" if scope.guild_id is None else f"in guild {scope.guild_id}"
        yield f"{character.id} ({place})"
