"""Keeps what the simulated Discord knows between two runs: messages, webhooks, commands, files.

Message ids stay the same, so that an edit or a deletion still reaches the turn that the bot stored.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from simcord.backend import Backend
from simcord.backend.cdn import CDN_BASE
from simcord.backend.models import Message, Reaction, Webhook

from bot.demo.errors import DemoError
from bot.demo.world import SeededMessage, World, add_webhook

FORMAT = 1
KEPT_MESSAGES = 100
"""Publishing the page costs about 1 ms per message in the channel (measured with simcord 3.2.1)."""
_LOADING = 1 << 7
_PLAIN = (
    "id", "channel_id", "author_id", "content", "timestamp", "edited_timestamp", "type", "flags", "pinned", "embeds",
    "components", "attachments", "mention_user_ids", "mention_role_ids", "reference", "reply_author_id",
    "interaction_metadata", "webhook_id", "author_avatar", "author_name",
)  # fmt: skip


def trim(backend: Backend, world: World) -> None:
    """Forget the oldest messages of the channel beyond `KEPT_MESSAGES`, without telling the bot."""
    messages = backend.messages[world.channel_id]
    for message_id in sorted(messages)[:-KEPT_MESSAGES]:
        del messages[message_id]


def _message_record(message: Message) -> dict[str, Any]:
    record = {name: getattr(message, name) for name in _PLAIN}
    return {**record, "reactions": [dataclasses.asdict(each) for each in message.reactions]}


def _lasts(message: Message) -> bool:
    return not message.is_ephemeral and not message.flags & _LOADING


def save(backend: Backend, world: World, file: Path) -> None:
    """Write everything to ``file``, whole or not at all."""
    messages = [each for each in backend.messages[world.channel_id].values() if _lasts(each)]
    commands = [[scope, list(registered.values())] for scope, registered in backend.commands.items()]
    blobs = {
        url: base64.b64encode(data).decode()
        for url, data in backend.cdn._blobs.items()
        if url.startswith(f"{CDN_BASE}/attachments/")
    }
    state = {
        "format": FORMAT,
        "messages": [_message_record(each) for each in messages if each.author_id != world.usher_id],
        "webhooks": [dataclasses.asdict(each) for each in backend.webhooks.values()],
        "commands": commands,
        "files": blobs,
    }
    handle, partial = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            json.dump(state, written, ensure_ascii=False)
        Path(partial).replace(file)
    finally:
        Path(partial).unlink(missing_ok=True)


def restore(backend: Backend, world: World, file: Path) -> None:
    """Read back what `save` wrote. Raises `DemoError` when the file is not usable."""
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
        if state["format"] != FORMAT:
            raise DemoError(f"{file} is of another version; start over with --reset")
        for record in state["webhooks"]:
            add_webhook(backend, Webhook(**record))
        for url, data in state["files"].items():
            backend.cdn._blobs[url] = base64.b64decode(data)
        for scope, commands in state["commands"]:
            backend.commands[scope] = {(each["name"], int(each.get("type", 1))): each for each in commands}
        for record in state["messages"]:
            reactions = [Reaction(**each) for each in record.pop("reactions")]
            _install(backend, Message(**record, reactions=reactions))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DemoError(f"{file} cannot be read ({error}); start over with --reset") from error


def place(backend: Backend, world: World, story: Iterable[SeededMessage]) -> None:
    """Put the messages of a story into the channel, as if they had been written at their time."""
    for each in story:
        character = each.author_id is None
        _install(
            backend,
            Message(
                id=each.message_id,
                channel_id=world.channel_id,
                author_id=world.webhook_id if each.author_id is None else each.author_id,
                content=each.content,
                timestamp=each.at.isoformat(),
                webhook_id=world.webhook_id if character else None,
                author_name=each.author_name if character else None,
            ),
        )


def announce(backend: Backend, world: World, text: str) -> None:
    """Let the usher say ``text`` as the newest message, in the place of what it said in an earlier run."""
    messages = backend.messages[world.channel_id]
    for message_id in [each.id for each in messages.values() if each.author_id == world.usher_id]:
        del messages[message_id]
    backend.create_message(world.channel_id, world.usher_id, text, broadcast=False)


def _install(backend: Backend, message: Message) -> None:
    if message.author_id not in backend.users or message.id in backend.messages[message.channel_id]:
        return
    backend._reserved_ids.add(message.id)
    backend.messages[message.channel_id][message.id] = message
    channel = backend.channels[message.channel_id]
    channel.last_message_id = max(message.id, channel.last_message_id or 0)
