"""Counting tokens: by the server when it can, else by the running ratio that its own figures taught us."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.llm.client import ModelClient
from bot.llm.requests import Completion
from bot.memory.messages import Message
from bot.memory.prompt import flat
from bot.memory.tokens import MESSAGE_OVERHEAD, Script, TokenRatio, estimate, script_of
from bot.store import Store

_MOST_REMEMBERED = 64
# A restart may forget so much of what was learnt: a guess is further off anyway.
_WORTH_WRITING = 0.005


class TokenCounter:
    """One counter for the model that writes the replies; what it learnt survives a restart."""

    def __init__(self, store: Store, model: ModelClient) -> None:
        self._store = store
        self._model = model
        self._ratios: dict[Script, TokenRatio] = {}
        self._written: dict[Script, float] = {}
        self._counted: dict[str, int] = {}

    async def load(self) -> None:
        """Read the ratios of this model."""
        for script in Script:
            self._ratios[script] = await self._store.ratio(self._model.profile.model, script)

    def guess(self, text: str) -> int:
        """Tokens of a text without asking anybody."""
        ratio = self._ratios.get(script_of(text))
        return ratio.tokens(text) if ratio else estimate(text)

    async def count(self, text: str) -> int:
        """Tokens of a text, by the server's own counter when it has one."""
        counted = await self._model.count_tokens(text)
        return self.guess(text) if counted is None else counted

    async def count_fixed(self, text: str) -> int:
        """The same for a text that comes again and again, as a card does: counted once per process."""
        known = self._counted.get(text)
        if known is None:
            if len(self._counted) >= _MOST_REMEMBERED:
                self._counted.clear()
            known = self._counted[text] = await self.count(text)
        return known

    async def learn(self, messages: Sequence[Message], completion: Completion) -> None:
        """Take what the server counted for a prompt into the ratio of its script."""
        counted = completion.usage.prompt_tokens
        if not counted:
            return
        text = flat(messages)
        script, model = script_of(text), self._model.profile.model
        ratio = self._ratios.get(script) or TokenRatio(model, script)
        ratio = replace(ratio, model=model).seen(estimate(text), max(1, counted - MESSAGE_OVERHEAD * len(messages)))
        self._ratios[script] = ratio
        written = self._written.get(script)
        if written is None or abs(ratio.factor - written) > _WORTH_WRITING * written:
            self._written[script] = ratio.factor
            await self._store.save_ratio(ratio)
