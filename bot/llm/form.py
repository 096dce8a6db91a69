"""The body of a request, in the words that a given server accepts."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import Any

from bot.llm.requests import ModelProfile, ModelRequest, Priority
from bot.memory.messages import Picture


@dataclass(frozen=True, slots=True)
class Form:
    """Which optional fields a server takes.

    Hosts differ: some refuse ``response_format`` with a schema, some any field they do not know, newer models of
    OpenAI call ``max_tokens`` ``max_completion_tokens`` and refuse a temperature.
    """

    schema: bool = True
    cache: bool = True
    stream_options: bool = True
    temperature: bool = True
    cap: str = "max_tokens"

    def simpler(self, body: dict[str, Any], parameter: str) -> Form | None:
        """The form to try after ``body`` was refused for ``parameter`` (empty when the server named none).

        One way down: the named field if it is one that can be left out or renamed; else the schema together with
        the fields for the prompt cache; else the request for token counts; then nothing is left, and None says so.
        """
        if parameter == "max_tokens" and parameter in body:
            return replace(self, cap="max_completion_tokens")
        if parameter == "temperature" and parameter in body:
            return replace(self, temperature=False)
        has_schema, has_cache = "response_format" in body, "cache_prompt" in body
        if has_schema or has_cache:
            return replace(self, schema=self.schema and not has_schema, cache=self.cache and not has_cache)
        if "stream_options" in body:
            return replace(self, stream_options=False)
        return None


def build_body(request: ModelRequest, profile: ModelProfile, form: Form) -> dict[str, Any]:
    """The JSON body of a streamed chat completion.

    A llama.cpp server keeps one prompt per slot, and which slot a request uses is left to the server: only a request
    without an ``id_slot`` is saved to and restored from the server's prompt cache in RAM. Measured with a llama.cpp of
    October 2026 and a model of 135M, in 24 turns of two sessions with the same system prompt and a fold after every
    fifth turn, on two slots: the replies had 833 prompt tokens evaluated anew with that cache, and 936 when folds were
    pinned to the last slot; without the cache 4,411 and 4,539, because a story takes the slot of another that starts
    alike. So there is nothing to pin, and two ways to run such a server: with ``--cache-ram`` on, or with more slots
    than stories and ``--slot-prompt-similarity 0.8`` (961 tokens on three slots, without the cache).
    """
    body: dict[str, Any] = {
        "model": profile.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        form.cap: request.max_tokens,
        "stream": True,
    }
    if request.pictures:
        last = body["messages"][-1]
        last["content"] = [_text(last["content"]), *(part for each in request.pictures for part in _parts(each))]
    if form.stream_options:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None and form.temperature:
        body["temperature"] = request.temperature
    if request.schema is not None and form.schema and profile.json_schema:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.schema_name, "schema": request.schema, "strict": True},
        }
    if profile.server == "llama.cpp" and form.cache:
        body["cache_prompt"] = True
        # While it reads a prompt, llama.cpp looks only once in a second whether anybody still waits, and not even that while other
        # answers are being written. Where it tells how far it is, it notices after each batch: 0.5 s instead of 1.0. That is for
        # what was not read in portions (bot/llm/reading.py), because the server refused them or forgot them.
        if request.purpose.priority is not Priority.REPLY:
            body["return_progress"] = True
    return body


def _parts(picture: Picture) -> tuple[dict[str, Any], ...]:
    address = f"data:image/jpeg;base64,{base64.b64encode(picture.jpeg).decode()}"
    # Chat templates put the parts together, some of them without anything between.
    return _text(f"\n{picture.caption}\n"), {"type": "image_url", "image_url": {"url": address}}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
