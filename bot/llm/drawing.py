"""Answers of background work are drawn until one can be used, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bot.errors import WorkFailed
from bot.llm.checks import Rejection, extract_json
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelRequest

_DRAWS: Final = 2


async def draw(
    model: ModelClient, request: ModelRequest, check: Callable[[Completion, object], Rejection | None]
) -> object:
    """A parsed answer that passed ``check``. A refusal is drawn again once: it comes at random, in one of nine.

    Raises WorkFailed with what was wrong with the answer, and ModelUnavailable.
    """

    def checked(completion: Completion) -> Rejection | None:
        return check(completion, extract_json(completion.text))

    rejection: str | None = None
    for _ in range(_DRAWS):
        completion = await model.complete(replace(request, check=checked))
        rejection = completion.rejection
        if rejection is None:
            return extract_json(completion.text)
        if rejection != Rejection.REFUSED:
            break
    raise WorkFailed(str(rejection))
