"""Finding out what a model server can do, by asking it.

No host answers everything: llama.cpp has ``/props`` and ``/tokenize`` at its root and the model's training window in
``/v1/models``; hosted services put a window into ``/v1/models`` under names of their own, or say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import httpx

from bot.llm.requests import ModelProfile

_WINDOW_FIELDS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
)
UNKNOWN_MODEL = "default"


@dataclass(frozen=True, slots=True)
class Probe:
    """The outcome of asking a server.

    ``reached`` is false when it did not answer everything: llama.cpp lists its models while it still loads one, and
    answers 503 to the rest.
    """

    profile: ModelProfile
    reached: bool


def unknown_profile(model: str | None) -> ModelProfile:
    """What is assumed of a server that was never asked: an answer to a JSON schema, and nothing else."""
    return ModelProfile(model or UNKNOWN_MODEL, None, True, False, False, "openai-compatible")


def server_root(base_url: str) -> str:
    """Where llama.cpp keeps the endpoints that are not OpenAI's: the base address without ``/v1``."""
    return base_url.rstrip("/").removesuffix("/v1")


async def probe(
    http: httpx.AsyncClient, base_url: str, *, model: str | None, before: ModelProfile, vision: bool | None = None
) -> Probe:
    """Ask a server for its window, model and abilities; what it does not say is kept from ``before``.

    ``model`` is the configured name, None to take the server's first; ``vision`` whether the model can see, None to ask. A
    schema that was refused stays refused as long as kind of server and model are the same. Raises nothing but cancellation.
    """
    props = await _get(http, f"{server_root(base_url)}/props")
    models = await _get(http, f"{base_url.rstrip('/')}/models")
    if not (props.answered or models.answered):
        return Probe(before, False)
    settings = _mapping(props.content.get("default_generation_settings"))
    entry = _model_entry(models.content, model)
    llama = bool(settings) or entry.get("owned_by") == "llamacpp"
    name = model or _text(entry.get("id")) or _served_name(props.content) or before.model
    same = llama == (before.server == "llama.cpp") and name == before.model
    if vision is None:
        vision = _vision(props.content, entry)
    profile = ModelProfile(
        model=name,
        window=_window(settings, entry, before),
        json_schema=before.json_schema if same else True,
        counts_tokens=await count_tokens(http, base_url, "") is not None,
        cached_tokens=llama or (same and before.cached_tokens),
        server="llama.cpp" if llama else "openai-compatible",
        slots=_size(props.content.get("total_slots")) if llama else None,
        vision=before.vision if vision is None and same else vision,
    )
    return Probe(profile, props.answered and models.answered)


class NoTokenizer(Exception):
    """The server answered, and it cannot count."""


async def count_tokens(http: httpx.AsyncClient, base_url: str, text: str, *, definite: bool = False) -> int | None:
    """The number of tokens of ``text`` by llama.cpp's ``/tokenize``, None when the server gave no such answer.

    With ``definite``, raises `NoTokenizer` when asking again would be pointless.
    """
    try:
        response = await http.post(f"{server_root(base_url)}/tokenize", json={"content": text})
        content = response.json()
    except (httpx.HTTPError, httpx.InvalidURL):
        return None
    except ValueError:
        content = None
    tokens = content.get("tokens") if isinstance(content, dict) else None
    if response.is_success and isinstance(tokens, list):
        return len(tokens)
    if definite and response.status_code not in (429, 500, 502, 503, 504):
        raise NoTokenizer
    return None


@dataclass(frozen=True, slots=True)
class _Reply:
    answered: bool
    content: dict[str, Any]


async def _get(http: httpx.AsyncClient, url: str) -> _Reply:
    try:
        response = await http.get(url)
        content = response.json()
    except (httpx.HTTPError, httpx.InvalidURL):
        return _Reply(False, {})
    except ValueError:
        content = None
    usable = response.is_success and isinstance(content, dict)
    return _Reply(response.status_code != 503, content if usable else {})


def _model_entry(models: dict[str, Any], model: str | None) -> dict[str, Any]:
    listed = models.get("data")
    entries = [_mapping(entry) for entry in listed] if isinstance(listed, list) else []
    if model is not None and len(entries) > 1:
        entries = [entry for entry in entries if entry.get("id") == model]
    return entries[0] if entries else {}


def _served_name(props: dict[str, Any]) -> str | None:
    path = _text(props.get("model_path"))
    return _text(props.get("model_alias")) or (PurePath(path).stem if path else None)


def _window(settings: dict[str, Any], entry: dict[str, Any], before: ModelProfile) -> int | None:
    """The best known window: the training window comes last, for a server is often started with a smaller one."""
    sizes = [_size(settings.get("n_ctx"))]
    sizes += [_size(entry.get(name)) for name in _WINDOW_FIELDS]
    sizes.append(before.window)
    sizes.append(_size(_mapping(entry.get("meta")).get("n_ctx_train")))
    return next((size for size in sizes if size is not None), None)


def _vision(props: dict[str, Any], entry: dict[str, Any]) -> bool | None:
    """Whether the model can see: llama.cpp's ``modalities``, or the ``input_modalities`` that some hosts list."""
    sees = _mapping(props.get("modalities")).get("vision")
    if isinstance(sees, bool):
        return sees
    listed = entry.get("input_modalities", _mapping(entry.get("architecture")).get("input_modalities"))
    return "image" in listed if isinstance(listed, list) else None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
