"""Asking the model of an evaluation: for JSON of a form, or for prose; what comes otherwise is counted, never lost."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import ModelUnavailable, WindowExceeded
from bot.evals.machinery import ModelGone
from bot.llm.checks import extract_json
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory.messages import Message
from bot.memory.tokens import TokenRatio, estimate, script_of


@dataclass(frozen=True, slots=True)
class Said:
    """What a model answered. ``value`` is the parsed JSON that was asked for, None where it wrote something else."""

    text: str
    value: Mapping[str, Any] | None = None
    was_cut: bool = False


class Asker:
    """Asks one model, and asks nothing twice at the same time. ``wrong`` counts answers that are not as they should be."""

    def __init__(self, client: ModelClient, ratio: TokenRatio) -> None:
        self._client = client
        self._ratio = ratio
        self._asked: dict[str, asyncio.Task[Said]] = {}
        self.wrong: Counter[str] = Counter()

    def guess(self, text: str) -> int:
        """The tokens of a text, by the ratio that the model's own counter taught."""
        return self._ratio.tokens(text)

    async def count(self, text: str) -> int:
        """The tokens of a text by the model's own counter, where it has one."""
        counted = await self._client.count_tokens(text)
        return self.guess(text) if counted is None else counted

    async def prose(self, what: str, messages: Sequence[Message], most_tokens: int) -> Said:
        """An answer in words. Raises ModelGone."""
        return await self._once(what, ModelRequest(tuple(messages), Purpose.JUDGE, most_tokens))

    async def json(
        self, what: str, messages: Sequence[Message], schema: dict[str, Any], most_tokens: int, *, name: str
    ) -> Said:
        """An answer by a schema; the schema's ``name`` says what it is for. Raises ModelGone."""
        request = ModelRequest(tuple(messages), Purpose.JUDGE, most_tokens, schema=schema, schema_name=name)
        return await self._once(what, request)

    async def _once(self, what: str, request: ModelRequest) -> Said:
        content = [[m.role, m.content] for m in request.messages]
        key = json.dumps([request.schema_name, request.schema, request.max_tokens, content])
        known = self._asked.get(key)
        if known is None:
            known = self._asked[key] = asyncio.create_task(self._ask(what, request))
        return await known

    async def _ask(self, what: str, request: ModelRequest) -> Said:
        try:
            completion = await self._client.complete(request)
        except WindowExceeded:
            self.wrong[f"{what}: too long for the window"] += 1
            return Said("")
        except ModelUnavailable as error:
            raise ModelGone(error) from error
        return self._read(what, completion, is_json=request.schema is not None)

    def _read(self, what: str, completion: Completion, *, is_json: bool) -> Said:
        text, was_cut = completion.text.strip(), completion.finish_reason == "length"
        self.wrong[f"{what}: cut by the limit of its length"] += was_cut
        if not text:
            self.wrong[f"{what}: empty"] += 1
        if not is_json or not text:
            return Said(text, None, was_cut)
        found = extract_json(text)
        value = found if isinstance(found, dict) else None
        self.wrong[f"{what}: prose where JSON was asked"] += value is None
        return Said(text, value, was_cut)


async def taught_ratio(client: ModelClient, sample: str) -> TokenRatio:
    """How the model counts text of this kind against our table; the table alone where it cannot count."""
    ratio = TokenRatio(client.profile.model, script_of(sample))
    counted = await client.count_tokens(sample)
    return ratio.seen(estimate(sample), counted) if counted else ratio
