"""Finds out by its content what kind of conversation a file holds, and reads it."""

from __future__ import annotations

import json
from pathlib import Path

from bot.evals.chat_logs import is_discord, is_own, is_tavern, lines_of, read_discord, read_own, read_tavern
from bot.evals.conversations import ConversationFile, ConversationUnreadable
from bot.evals.locomo import is_locomo, read_locomo


def read_conversations(path: Path) -> ConversationFile:
    """The conversations of a file. Raises ConversationUnreadable when it holds none that is known here."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise ConversationUnreadable(f"{path} cannot be read: {what}.") from error
    found = _read(text, path)
    if not any(conversation.turns for conversation in found.conversations):
        raise ConversationUnreadable(f"{path} is a file of {found.kind}, but nobody says anything in it.")
    return found


def _read(text: str, path: Path) -> ConversationFile:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if is_own(value):
        return read_own(value)
    if is_discord(value):
        return read_discord(value, path.stem)
    if is_locomo(value):
        return read_locomo(value)
    records = lines_of(text)
    if is_tavern(records):
        return read_tavern(records, path.stem)
    raise ConversationUnreadable(
        f"{path} holds no conversation that is known here: JSON of LoCoMo or DiscordChatExporter, a SillyTavern chat as jsonl, "
        "or what kataribe export --format json writes."
    )
