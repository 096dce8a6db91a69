"""Playing a conversation through the real engine: whose words become whose, whoever speaks, and what cannot be shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.evals.conversations import Conversation, Question, Spoken
from bot.evals.recall import budgets_for_talk
from bot.evals.replaying import FoldingModel, Remembered, replay
from bot.memory.tokens import estimate
from tests.evals.rememberers import Rememberer, event, thing
from tests.support.model_server import ModelServer

START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def spoken(place: int, speaker: str, text: str, *, by_character: bool) -> Spoken:
    return Spoken(str(place), speaker, text, START + timedelta(hours=place), by_character, speaker)


async def remembered(talk: Conversation, folder: Path, *questions: Question) -> tuple[Remembered, ModelServer]:
    async with ModelServer(window=4_096) as server:
        Rememberer().answers(server)
        model = FoldingModel(server.base_url, None, 4_096, estimate)
        budgets = budgets_for_talk(4_096, 2_000, 400)
        turns: list[int] = []
        ours = await replay(talk, model, budgets, questions, folder, turns.append)
    assert sum(turns) == len(talk.turns)
    return ours, server


async def test_each_line_is_its_speakers(tmp_path: Path) -> None:
    turns = (
        spoken(1, "Ada", thing(0), by_character=False),
        spoken(2, "Bo", f"*{event(0)}* `I hope nobody saw it.` We should go.", by_character=True),
        spoken(3, "Cy", f"{event(1)} I saw it myself.", by_character=True),
        spoken(4, "Dee", thing(1), by_character=False),
        spoken(5, "Bo", "((back in five minutes))", by_character=True),
        spoken(6, "Bo", "Well.", by_character=True),
    )
    ours, server = await remembered(Conversation("talk", "Ada", "Bo", turns), tmp_path)
    source = server.of("fold")[0].messages[-1]["content"]
    assert f"[1.1 player Ada] {thing(0)}" in source
    assert f"narration Bo] {event(0)}" in source
    assert "thought Bo] I hope nobody saw it." in source
    assert f"speech Cy] {event(1)}" in source
    assert f"player Dee] {thing(1)}" in source
    assert (ours.turns_not_shown, ours.turns_left_raw, ours.chapters) == (1, 0, 1)
    assert ours.memories == {"fact": 2, "event": 1, "claim": 1}, "what Cy says is on record as said"
    assert thing(0).rstrip(".") in ours.head
    assert thing(0).rstrip(".") not in ours.events
    assert event(0).rstrip(".") in ours.events


async def test_recall_is_that_of_the_real_prompt(tmp_path: Path) -> None:
    gull = "A gull took my sandwich on the quay."
    turns = tuple(spoken(place, "Ada", gull if place == 3 else thing(place), by_character=False) for place in range(12))
    known, unknown = (
        Question("1", "Which gull took my sandwich?", None),
        Question("2", "Where is the unicorn?", None),
    )
    ours, _ = await remembered(Conversation("talk", "Ada", "Bo", turns), tmp_path, known, unknown)
    assert gull not in ours.head
    assert gull in ours.recalled["1"]
    assert "2026-01-01" in ours.recalled["1"]
    assert ours.recalled["2"] == ""


@pytest.mark.parametrize("by_character", [True, False])
async def test_a_talk_of_one_is_played_too(tmp_path: Path, by_character: bool) -> None:
    turns = tuple(spoken(place, "Ada", f"*{event(place)}*", by_character=by_character) for place in range(6))
    who = ("?", "Ada") if by_character else ("Ada", "?")
    ours, _ = await remembered(Conversation("talk", *who, turns), tmp_path)
    assert (ours.turns_left_raw, ours.turns_not_shown) == (0, 0)
    assert ours.memories["event"] >= 3


async def test_nothing_remembered_is_nothing(tmp_path: Path) -> None:
    turns = (spoken(1, "Ada", "Hm.", by_character=False), spoken(2, "Bo", "Hm?", by_character=True))
    ours, _ = await remembered(Conversation("talk", "Ada", "Bo", turns), tmp_path)
    assert (ours.head, ours.events, ours.memories) == ("", "", {})
