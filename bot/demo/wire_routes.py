"""One REST call against simcord's state, with what simcord 3.2.1 leaves out mended.

- ``thread_id`` of a webhook: simcord posts into the parent channel.
- A webhook made by the bot belongs to its application: Discord says so in ``application_id`` of the webhook and of its
  messages, and lets such a webhook send interactive components. simcord knows neither.
- Addresses of the CDN point at simcord's invalid host; on the wire they point at this server.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from simcord.backend import Backend, errors
from simcord.backend.cdn import CDN_BASE
from simcord.backend.models import Webhook
from simcord.components import walk_components
from simcord.http import router, routes

_ROUTES_LOADED = routes
"""Importing ``simcord.http.routes`` is what registers its handlers."""
_COMPONENTS_V2 = 1 << 15


class Upload:
    """A file of a multipart request, in the shape that simcord reads (``fp``, ``filename``, ``description``)."""

    __slots__ = ("description", "filename", "fp")

    def __init__(self, filename: str, data: bytes) -> None:
        self.filename = filename
        self.fp = io.BytesIO(data)
        self.description: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A REST request as it arrived. ``path`` starts behind the version (``/channels/1/messages``)."""

    method: str
    path: str
    json: Any
    query: Mapping[str, str]
    files: list[Upload]
    reason: str | None

    @property
    def parts(self) -> list[str]:
        return self.path.strip("/").split("/")

    @property
    def webhook_token(self) -> str | None:
        parts = self.parts
        return parts[2] if parts[0] == "webhooks" and len(parts) >= 3 else None

    @property
    def needs_token(self) -> bool:
        """Whether the bot's token is the authorization, instead of a token in the path."""
        return self.webhook_token is None and self.parts[0] != "interactions"

    def wants_no_body(self, backend: Backend) -> bool:
        """A webhook is answered with its message only when asked to wait for it."""
        token = self.webhook_token
        executes = self.method == "POST" and token is not None and len(self.parts) == 3
        waits = self.query.get("wait", "").lower() in ("1", "true")
        return executes and not waits and token not in backend.interaction_tokens


def answer(backend: Backend, call: Call) -> Any:
    """Carry out ``call`` and return its JSON, or None for "no content". Raises simcord's ``BackendError``."""
    hook = _incoming_webhook(backend, call)
    if hook is None:
        return _dispatch(backend, call, call.json)
    with _standing_in(backend, hook, call.query.get("thread_id")):
        components = _interactive(backend, hook, call.json)
        if not components:
            return _dispatch(backend, call, call.json)
        plain = {key: value for key, value in call.json.items() if key != "components"}
        result = _dispatch(backend, call, plain)
        return _with_components(backend, result, components)


def _dispatch(backend: Backend, call: Call, body: Any) -> Any:
    return router.dispatch(
        backend,
        call.method,
        call.path,
        json=body,
        params=dict(call.query),
        files=list(call.files),
        reason=call.reason,
    )


def _incoming_webhook(backend: Backend, call: Call) -> Webhook | None:
    token = call.webhook_token
    webhook_id = backend.webhook_tokens.get(token) if token is not None else None
    return None if webhook_id is None else backend.webhooks[webhook_id]


@contextmanager
def _standing_in(backend: Backend, hook: Webhook, thread_id: str | None) -> Iterator[None]:
    """Let the webhook stand in the thread for as long as one synchronous call takes."""
    if thread_id is None:
        yield
        return
    thread = backend.get_channel(int(thread_id))
    if not thread.is_thread or thread.parent_id != hook.channel_id:
        raise errors.unknown_channel()
    home, hook.channel_id = hook.channel_id, thread.id
    try:
        yield
    finally:
        hook.channel_id = home


def _interactive(backend: Backend, hook: Webhook, body: Any) -> list[dict[str, Any]]:
    """The components that simcord would refuse, of a webhook that may send them."""
    components: list[dict[str, Any]] = body.get("components") or [] if isinstance(body, dict) else []
    if hook.creator_id != backend.bot_user.id or not any(each.get("custom_id") for each in walk_components(components)):
        return []
    if int(body.get("flags") or 0) & _COMPONENTS_V2:
        raise NotImplementedError("interactive components of the second version from a webhook")
    return components


def _with_components(backend: Backend, result: Any, components: list[dict[str, Any]]) -> Any:
    message = backend.get_message(int(result["channel_id"]), int(result["id"]))
    edited = message.edited_timestamp
    backend.edit_message(message.channel_id, message.id, {"components": components})
    message.edited_timestamp = edited
    return {**result, "components": message.components}


def outgoing(backend: Backend, payload: Any, cdn: str) -> Any:
    """A copy of ``payload`` as Discord would send it: reachable addresses, and the application that owns a webhook."""
    if isinstance(payload, str):
        return payload.replace(CDN_BASE, cdn) if CDN_BASE in payload else payload
    if isinstance(payload, list):
        return [outgoing(backend, each, cdn) for each in payload]
    if not isinstance(payload, Mapping):
        return payload
    copy = {key: outgoing(backend, value, cdn) for key, value in payload.items()}
    hook_id = copy.get("webhook_id") if "author" in copy else copy.get("id") if "application_id" in copy else None
    hook = backend.webhooks.get(int(hook_id)) if hook_id is not None else None
    if hook is not None and hook.creator_id == backend.bot_user.id:
        copy["application_id"] = str(backend.application_id)
    return copy
