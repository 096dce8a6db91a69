"""Reads logs without questions: DiscordChatExporter's JSON, SillyTavern's jsonl, and our own export."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from bot.evals.conversations import Conversation, ConversationFile, Log, text_in
from bot.export import FORMAT_NAME

DISCORD: Final = "DiscordChatExporter"
TAVERN: Final = "SillyTavern"
OWN: Final = "Kataribe"
# Joins, pins, calls and the like are messages of Discord itself.
_TALK: Final = ("Default", "Reply")
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def is_discord(value: object) -> bool:
    """Whether parsed JSON is DiscordChatExporter's (https://github.com/Tyrrrz/DiscordChatExporter)."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    return isinstance(value.get("channel"), dict) or isinstance(value.get("guild"), dict)


def read_discord(value: Mapping[str, Any], name: str) -> ConversationFile:
    """One channel. Bots are characters, the one that wrote most of all the lead; without any, whoever wrote most is."""
    log, holes = Log(), Counter[str]()
    messages = [message for message in value["messages"] if isinstance(message, dict)]
    holes["messages of another form"] += len(value["messages"]) - len(messages)
    kept = [message for message in messages if message.get("type", _TALK[0]) in _TALK]
    holes["messages of Discord itself"] += len(messages) - len(kept)
    lead = _lead(kept)
    for message in kept:
        author = _mapping(message.get("author"))
        log.add(
            message.get("id"), _shown_name(author), message.get("content"), message.get("timestamp"),
            by_character=_is_bot(author) or _identity(author) == lead, author=_identity(author),
            pictures=_attached(message.get("attachments")),
        )  # fmt: skip
    channel = text_in(_mapping(value.get("channel")), "name") or name
    return _file(DISCORD, channel, log, lead, log.holes + holes)


def is_tavern(records: list[Any]) -> bool:
    """Whether the lines of a file are those of a SillyTavern chat."""
    first = next((record for record in records if isinstance(record, dict)), {})
    return bool({"mes", "user_name", "character_name", "chat_metadata"} & set(first))


def read_tavern(records: list[Any], name: str) -> ConversationFile:
    """One chat; of several characters the one that wrote most is the lead. Of swipes only what stands in the chat counts."""
    log, holes = Log(), Counter[str]()
    messages = [record for record in records if isinstance(record, dict) and "mes" in record]
    heads = [record for record in records if isinstance(record, dict) and "mes" not in record]
    if not any("user_name" in head or "chat_metadata" in head for head in heads):
        holes["no line of metadata"] += 1
    holes["lines unreadable"] += len(records) - len(messages) - len(heads)
    for place, message in enumerate(messages, start=1):
        if message.get("is_system") is True:
            holes["messages of the system"] += 1
            continue
        if _repeats(messages, place - 1):
            holes["messages twice"] += 1
            continue
        by_player = message.get("is_user") is True
        log.add(place, message.get("name"), message["mes"], message.get("send_date"), by_character=not by_player)
    lead = _most(turn.author for turn in log.turns if turn.by_character)
    return _file(TAVERN, name, log, lead, log.holes + holes)


def is_own(value: object) -> bool:
    """Whether parsed JSON is what ``kataribe export --format json`` writes."""
    return isinstance(value, dict) and value.get("format") == FORMAT_NAME


def read_own(value: Mapping[str, Any]) -> ConversationFile:
    """The turns of a story as it stands; what was set aside or never reached the players is no part of it."""
    log, holes = Log(), Counter[str]()
    turns = value.get("turns")
    records = [turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else []
    holes["turns of another form"] += len(turns) - len(records) if isinstance(turns, list) else 1
    for turn in records:
        author = _mapping(turn.get("author"))
        if turn.get("state", "kept") != "kept":
            holes["turns that were taken back"] += 1
            continue
        log.add(
            turn.get("seq"), author.get("name"), turn.get("raw"), turn.get("at"),
            by_character=author.get("kind") == "character", author=f"{author.get('kind')} {author.get('id')}",
        )  # fmt: skip
    character, session = _mapping(value.get("character")), _mapping(value.get("session"))
    description = text_in(character, "description")
    lead = f"character {character.get('id')}"
    return _file(OWN, f"session {session.get('id')}", log, lead, log.holes + holes, description)


def lines_of(text: str) -> list[Any]:
    """The parsed lines of a jsonl file; None stands for one that cannot be read."""
    return [_parsed(line) for line in text.splitlines() if line.strip()]


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _file(
    kind: str, identity: str, log: Log, lead: str, holes: Mapping[str, int], description: str = ""
) -> ConversationFile:
    names = {turn.author: turn.speaker for turn in log.turns}
    player = _most(turn.author for turn in log.turns if not turn.by_character)
    found = Conversation(
        identity, names.get(player, "?"), names.get(lead, "?"), tuple(log.turns), (), description, dict(holes)
    )
    return ConversationFile(kind, (found,))


def _lead(messages: list[dict[str, Any]]) -> str:
    authors = [_mapping(message.get("author")) for message in messages]
    return _most(_identity(a) for a in authors if _is_bot(a)) or _most(_identity(a) for a in authors)


def _most(names: Any) -> str:
    common = Counter(name for name in names if name).most_common(1)
    return common[0][0] if common else ""


def _is_bot(author: Mapping[str, Any]) -> bool:
    return author.get("isBot") is True


def _identity(author: Mapping[str, Any]) -> str:
    return str(author.get("id") or author.get("name") or "")


def _shown_name(author: Mapping[str, Any]) -> str:
    return text_in(author, "nickname") or text_in(author, "name")


def _attached(files: object) -> tuple[str, ...]:
    names = [text_in(file, "fileName") for file in files if isinstance(file, dict)] if isinstance(files, list) else []
    return tuple(name for name in names if name.lower().endswith(_PICTURES))


def _repeats(messages: list[dict[str, Any]], place: int) -> bool:
    """Whether a message says the same as the one above it, by the same at the same time."""
    if place == 0:
        return False
    here, above = messages[place], messages[place - 1]
    return all(here.get(key) == above.get(key) for key in ("name", "mes", "send_date"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
