"""Asking the model for a reply: the prompt is laid out, cut further where it does not fit, and drawn again where nothing shows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.counting import TokenCounter
from bot.errors import ModelUnavailable, WindowExceeded
from bot.llm.checks import Rejection
from bot.llm.client import ModelClient
from bot.llm.requests import Completion, ModelCall, ModelRequest, Purpose
from bot.memory import markup, policy
from bot.memory.folding import reply_schema
from bot.memory.messages import Picture
from bot.memory.story import Snapshot, Tail
from bot.memory.turns import BeatKind, Telling
from bot.prompting import Prompt, Prompter
from bot.sight import Sight
from bot.streaming import Draft

log = logging.getLogger(__name__)

OnText = Callable[[str], None]
OnCall = Callable[[ModelCall], None]

# A reply may be tried again with fewer turns when the server says that its window is smaller than we thought.
_WINDOW_TRIES: Final = 3
# A small model may only think, and a hosted one may answer nothing: drawn again once, as a refusal is.
_DRAWS: Final = 2
_VISIBLE: Final = (BeatKind.NARRATION, BeatKind.SPEECH)


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wrote, and what its prompt put before the newest turn."""

    telling: Telling
    tail: Tail | None


class Writer:
    """Writes replies. ``budgets`` gives the budgets of the moment."""

    def __init__(
        self,
        model: ModelClient,
        counter: TokenCounter,
        prompter: Prompter,
        sight: Sight,
        *,
        budgets: Callable[[], policy.Budgets],
        temperature: float | None = None,
    ) -> None:
        self._model = model
        self._counter = counter
        self._prompter = prompter
        self._sight = sight
        self._budgets = budgets
        self._temperature = temperature

    async def written(self, snapshot: Snapshot, draft: Draft | None, on_call: OnCall) -> Written:
        """The reply to a snapshot's newest turn; a draft fills while it is written. ``on_call`` is told of each request made.

        Raises UserError when there is no answer.
        """
        session = snapshot.session
        pictures = await self._sight.pictures(snapshot)
        for _ in range(_DRAWS):
            if draft is not None:
                draft.begin()
            prompt, completion = await self._complete(snapshot, pictures, draft.add if draft else None, on_call)
            if completion.rejection == Rejection.FILTERED:
                raise ModelUnavailable("model-filtered", detail="content_filter")
            if completion.rejection is None:
                break
            log.info("session %d: a reply with nothing to show", session.id)
        else:
            raise ModelUnavailable("model-empty", detail=completion.finish_reason)
        if not pictures:  # their tokens are counted with those of the words
            await self._counter.learn(prompt.messages, completion)
        beats = markup.parse_reply(completion.text, snapshot.character.card.name)
        usage = completion.usage
        telling = Telling(
            completion.text,
            beats,
            usage.completion_tokens or self._counter.guess(completion.text),
            completion.finish_reason,
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.completion_tokens,
            completion.model,
        )
        return Written(telling, prompt.tail)

    async def _complete(
        self, snapshot: Snapshot, pictures: tuple[Picture, ...], on_text: OnText | None, on_call: OnCall
    ) -> tuple[Prompt, Completion]:
        """A completion and the prompt it answers, cut further while the server says that it does not fit its window.

        Pictures are left out before any words are.
        """
        session_id = snapshot.session.id
        if pictures:
            prompt = await self._prompter.prompt(snapshot)
            try:
                return prompt, await self._ask(snapshot, prompt, on_text, on_call, pictures)
            except WindowExceeded:
                log.info("session %d: no room for pictures", session_id)
        for attempt in range(_WINDOW_TRIES):
            prompt = await self._prompter.prompt(snapshot, halvings=attempt)
            try:
                return prompt, await self._ask(snapshot, prompt, on_text, on_call)
            except WindowExceeded:
                log.warning("session %d: the prompt did not fit the server's window", session_id)
                await self._model.probe()
        raise ModelUnavailable("model-window", detail=f"does not fit after {_WINDOW_TRIES} cuts")

    async def _ask(
        self,
        snapshot: Snapshot,
        prompt: Prompt,
        on_text: OnText | None,
        on_call: OnCall,
        pictures: tuple[Picture, ...] = (),
    ) -> Completion:
        most, name = self._budgets().reply_output, snapshot.character.card.name
        return await self._model.complete(
            ModelRequest(
                prompt.messages,
                Purpose.REPLY,
                max_tokens=most,
                schema=reply_schema(most),
                schema_name="reply",
                temperature=self._temperature,
                session_id=snapshot.session.id,
                on_text=on_text,
                pictures=pictures,
                check=lambda completion: _rejection(completion, name),
                epoch=prompt.epoch,
                forced_cuts=prompt.forced_cuts,
                on_call=on_call,
            )
        )


def _rejection(completion: Completion, character_name: str) -> Rejection | None:
    """Why players cannot be shown a reply."""
    if completion.finish_reason == "content_filter":
        return Rejection.FILTERED
    beats = markup.parse_reply(completion.text, character_name)
    return None if any(beat.kind in _VISIBLE for beat in beats) else Rejection.EMPTY
