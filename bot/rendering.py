"""Rendering a session's memory into the head of its prompts: a pure function of the rows, bound to a token counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from bot.counting import TokenCounter
from bot.memory import prompt
from bot.memory.cast import seen_by
from bot.memory.language import detect_language
from bot.memory.memories import SessionMemory, Viewer
from bot.memory.policy import Budgets
from bot.memory.story import Head, Session
from bot.memory.wording import Language

# The language is read from the lines that stay longest.
_READ: Final = 100


class Renderer:
    """Renders memories in the language they are written in."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter

    def head(self, memory: SessionMemory, language: Language, budgets: Budgets) -> Head:
        """The memory as the prompt shows it; ``language`` decides while there is nothing to read it from."""
        lines, ends, cap = prompt.last_to_leave(memory), budgets.open_ends, budgets.memory_cap
        texts = [m.content.text for m in (lines or memory.open_ends())[:_READ]]
        talk = detect_language("\n".join(texts)) if texts else language
        fitting = prompt.fitting(memory, talk, cap, self._counter.guess, open_ends=ends)
        text = prompt.memory_text(fitting, talk, open_ends=ends)
        left_out = len(lines) > len(prompt.last_to_leave(fitting))
        over = sum(self._counter.guess(prompt.memory_line(m, talk)) for m in lines) > cap if left_out else False
        return Head(text, self._counter.guess(text), is_full=len(lines) >= _READ and over)

    def size(self, text: str) -> int:
        """The size of a text in tokens, as the budgets count it."""
        return self._counter.guess(text)

    def for_session(self, session: Session, budgets: Budgets) -> Callable[[SessionMemory], Head]:
        """What the store calls inside the transaction that changes a session's memory: it is rendered as each character has it."""

        def of_all(memory: SessionMemory) -> Head:
            if memory.voices is None:
                return self.head(memory, session.language, budgets)
            lead, *others = memory.voices.viewers
            return replace(of(memory, lead), others=tuple((one.character_id, of(memory, one)) for one in others))

        def of(memory: SessionMemory, viewer: Viewer) -> Head:
            return self.head(seen_by(memory, viewer), session.language, budgets)

        return of_all
