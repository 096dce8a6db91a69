"""Laying out the prompt of a reply from the rows: what is loaded, counted, cut by force, and recalled.

What the prompt looks like is decided by ``bot.memory.prompt``; this brings it what it needs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from bot.counting import TokenCounter
from bot.llm.client import ModelClient
from bot.memory import policy, premise, prompt, recall
from bot.memory.cast import seen_by
from bot.memory.fading import NOTE_DAYS
from bot.memory.language import detect_language
from bot.memory.memories import Viewer
from bot.memory.messages import Message
from bot.memory.personas import introductions, present
from bot.memory.premise import Premise
from bot.memory.recall import Findings, Limits
from bot.memory.story import Snapshot, Tail
from bot.memory.turns import Turn, unanswered
from bot.memory.wording import Language
from bot.rendering import Renderer
from bot.store import Store

log = logging.getLogger(__name__)

# The newest turn is looked up, and with it what else waits for the same reply.
_LOOKED_UP: Final = 3
# Of the twenty-fifth of the window that the budgets keep free for the tail, what is recalled, what is known of those present and
# who their personas are take at most a quarter each, and the lorebook the last one.
_SHARE_OF_WINDOW: Final = 100
# Once tails take so much of the room that a fold makes, only what is asked for is recalled: they bring the next fold nearer.
_TAILS_SHARE: Final = 4


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of a prompt, and what of them stands before the newest turn, to be kept once it is answered.

    ``epoch`` and ``forced_cuts`` are the session's, with a cut that this prompt asked for.
    """

    messages: tuple[Message, ...]
    tail: Tail | None
    epoch: int
    forced_cuts: int


class Prompter:
    """Makes the prompts of replies.

    ``budgets`` gives the budgets of the moment; ``limits`` bound what is recalled, ``people_tokens`` what is told of the
    persons present.
    """

    def __init__(
        self,
        store: Store,
        model: ModelClient,
        counter: TokenCounter,
        renderer: Renderer,
        *,
        budgets: Callable[[], policy.Budgets],
        limits: Limits,
        people_tokens: int = 0,
    ) -> None:
        self._store = store
        self._model = model
        self._counter = counter
        self._renderer = renderer
        self._now = budgets
        self._limits = limits
        self._people_tokens = people_tokens

    async def snapshot(self, session_id: int, character_id: int | None = None) -> Snapshot:
        """What a prompt of the lead, or of the member with ``character_id``, is made of, with the newest turns counted.

        Raises LookupError.
        """
        return await self.prepared(await self._store.snapshot(session_id, character_id))

    async def prepared(self, snapshot: Snapshot) -> Snapshot:
        """A snapshot that was read just now, with the newest turns counted; another one when its memory was too long.

        Raises LookupError.
        """
        return await self._counted(await self._fitting(snapshot))

    async def prompt(self, snapshot: Snapshot, *, halvings: int = 0) -> Prompt:
        """The prompt of a reply, cut in one piece when raw turns and memory no longer fit.

        Each of ``halvings`` halves what may be shown: for a server whose window is smaller than it said.
        """
        session, budgets = snapshot.session, self._now()
        system = prompt.system_text(
            snapshot.character.card, session.language, json_reply=self._model.profile.json_schema
        )
        limit = budgets.prompt_limit(await self._counter.count_fixed(system)) >> halvings
        turns = [t for t in snapshot.turns if t.seq >= session.raw_from and not t.is_out_of_character]
        start = policy.cut_from(turns, budgets, session.memory_tokens, limit)
        if start is not None:
            await self._store.note_forced_cut(session.id, start)
            log.warning("session %d: raw turns before %d cut from the prompt by force", session.id, start)
            session = replace(session, epoch=session.epoch + 1, forced_cuts=session.forced_cuts + 1, raw_from=start)
            turns = [replace(t, tail="", tail_tokens=0) for t in turns if t.seq >= start]
        tail = await self._tail(replace(snapshot, session=session), turns)
        if tail is not None:
            turns[-1] = replace(turns[-1], tail=tail.text)
        messages = prompt.build(system, snapshot.memory_text, turns, session.language, snapshot.viewer_id)
        return Prompt(messages, tail, session.epoch, session.forced_cuts)

    async def _tail(self, snapshot: Snapshot, turns: Sequence[Turn]) -> Tail | None:
        """What belongs before the newest turn; None for a turn that was answered before, and where there is nothing to say."""
        if not turns or prompt.is_own(turns[-1], snapshot.viewer_id) or turns[-1].tail:
            return None
        gap = turns[-1].at - turns[-2].at if len(turns) > 1 else None
        language = detect_language(turns[-1].raw)
        told = "\n".join(turn.tail for turn in turns if turn.tail)
        lore = await self._lore(snapshot, turns, told, language)
        personas = await self._introduced(turns, told, language)
        known = await self._known(snapshot, turns, told, language)
        recalled = await self._recalled(snapshot, turns, told, language)
        text = prompt.tail_text(gap, language, (*lore, *personas, *known.lines, *recalled))
        tail = Tail(turns[-1].id, text, self._counter.guess(text), snapshot.session.epoch, known.revived)
        return tail if text or tail.revived else None

    async def _lore(self, snapshot: Snapshot, turns: Sequence[Turn], told: str, language: Language) -> tuple[str, ...]:
        """What of the character's lorebook the newest turns call for, as far as earlier tails did not tell it."""
        card = snapshot.character.card
        if card.book is None:
            return ()
        replies = await self._store.replies_before(snapshot.session.id, turns[-1].seq)
        # A book of hostile patterns can cost about a second, in which others want to be answered.
        return await asyncio.to_thread(
            prompt.lore_lines,
            card,
            turns,
            already=told,
            language=language,
            tokens=self._now().window // _SHARE_OF_WINDOW,
            size=self._counter.guess,
            replies=replies,
            viewer_id=snapshot.viewer_id,
        )

    async def _introduced(self, turns: Sequence[Turn], told: str, language: Language) -> tuple[str, ...]:
        """Who the personas are that speak in the turns shown, as far as earlier tails did not tell it."""
        ids = {turn.author.persona_id for turn in turns if turn.author.persona_id is not None}
        if not ids:
            return ()
        speaking = present(turns, await self._store.personas(ids))
        room = self._now().window // _SHARE_OF_WINDOW
        return introductions(speaking, told, language, tokens=room, size=self._counter.guess)

    async def _known(self, snapshot: Snapshot, turns: Sequence[Turn], told: str, language: Language) -> Premise:
        """What the character knows of those whose turns are shown, as far as earlier tails did not tell it."""
        room = min(self._people_tokens, self._now().window // _SHARE_OF_WINDOW)
        names = {turn.author.id: turn.author.name for turn in turns if turn.author.is_player}
        if room <= 0 or not names:
            return Premise()
        now = turns[-1].at
        found = await self._store.portraits(
            snapshot.session.id,
            list(names),
            since=now - timedelta(days=NOTE_DAYS),
            character_id=snapshot.character.id,
        )
        portraits = [
            replace(one, acquaintance=replace(one.acquaintance, name=names[one.acquaintance.player_id]))
            for one in found
        ]
        return premise.told(
            portraits,
            unanswered(turns),
            already=told,
            language=language,
            tokens=room,
            size=self._counter.guess,
            now=now,
        )

    async def _recalled(
        self, snapshot: Snapshot, turns: Sequence[Turn], told: str, language: Language
    ) -> tuple[str, ...]:
        """What the unanswered turns bring to mind that stands neither in the memory, nor in earlier tails, nor is shown."""
        room = min(self._limits.tokens, self._now().window // _SHARE_OF_WINDOW)
        limits = replace(self._limits, tokens=room)
        waiting = unanswered(turns)
        asked = recall.asked_of_turns(waiting[-_LOOKED_UP:])
        if sum(turn.tail_tokens for turn in turns) * _TAILS_SHARE > self._now().room:
            asked = tuple(one for one in asked if one.is_asking)
        is_all_shown = not (snapshot.session.folded_to or snapshot.session.raw_from)
        if not asked or limits.lines <= 0 or room <= 0 or is_all_shown:
            return ()
        found = await self._store.find(snapshot.session.id, recall.features_of(asked), before=turns[0].seq)
        if snapshot.session.others:
            found = await self._known_to(snapshot, found)
        return recall.recalled(
            asked,
            found,
            in_prompt=f"{snapshot.memory_text}\n{told}",
            turns_shown=[turn for turn in turns if turn not in waiting],
            character=snapshot.character.card.name,
            language=language,
            limits=limits,
            size=self._counter.guess,
        )

    async def _known_to(self, snapshot: Snapshot, found: Findings) -> Findings:
        """What of a look-up the character who is to reply may know."""
        since = snapshot.speaker.since if snapshot.speaker else 0
        numbers = [line.memory.number for line in found.lines if line.memory]
        memory = await self._store.with_sources(snapshot.session.id, numbers)
        seen = {m.number: m for m in seen_by(memory, Viewer(snapshot.character.id, since)).memories}
        return replace(
            found,
            lines=tuple(
                replace(line, memory=seen[line.memory.number]) if line.memory else line
                for line in found.lines
                if (line.memory and line.memory.number in seen) or (line.turn and line.turn.seq >= since)
            ),
        )

    async def _fitting(self, snapshot: Snapshot) -> Snapshot:
        """The same, rendered again when the memory was rendered for a window so wide that no raw turns fit beside it."""
        session, budgets = snapshot.session, self._now()
        if session.memory_tokens <= budgets.trigger - budgets.floor:
            return snapshot
        log.warning("session %d: the memory was rendered again for a smaller window", session.id)
        await self._store.render_again(session.id, self._renderer.for_session(session, budgets))
        return await self._store.snapshot(session.id, snapshot.character.id)

    async def _counted(self, snapshot: Snapshot) -> Snapshot:
        """The same with the newest players' turns counted by the server: until now they were guessed."""
        turns = list(snapshot.turns)
        for index in range(len(turns) - 1, -1, -1):
            turn = turns[index]
            if not turn.author.is_player:
                break
            if turn.is_out_of_character:
                continue
            tokens = await self._counter.count(prompt.turn_text(turn))
            if tokens != turn.tokens:
                await self._store.set_tokens(turn.id, tokens)
                turns[index] = replace(turn, tokens=tokens)
        return replace(snapshot, turns=tuple(turns))
