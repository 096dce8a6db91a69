"""A scripted judge of people: what it is shown, read back from the prompt, and an honest one that keeps habits."""

from __future__ import annotations

import re
from typing import Any

from bot.memory.likeness import alike
from tests.support.model_server import ModelServer

NOTES, TRAITS = "judge_notes", "judge_traits"

Body = dict[str, Any]


def own_lines(body: Body) -> dict[int, str]:
    """The lines that the person wrote, by number: only these may be cited."""
    return _numbered(r"^\[(\d+) player [^\]]*\] (.*)$", body)


def other_lines(body: Body) -> dict[int, str]:
    """The lines of everybody else."""
    return _numbered(r"^\[(\d+) (?!player )[^\]]*\] (.*)$", body)


def shown_notes(body: Body) -> dict[int, str]:
    """The notes that traits are asked of, by number."""
    return _numbered(r"^#(\d+) \d{4}-\d\d-\d\d (.*)$", body)


def shown_traits(body: Body) -> dict[int, str]:
    """The traits that are known, by number."""
    return _numbered(r"^#(\d+) (?!\d{4}-\d\d-\d\d )(.*)$", body)


def habits(body: Body) -> Body:
    """A note of each line in which the person says what they do every so often, or always."""
    lines = own_lines(body).items()
    kept = [(number, text) for number, text in lines if re.search(r"\bI\b.*\b(every|always)\b", text)]
    return {"notes": [{"text": _third_person(text), "cites": [number]} for number, text in kept]}


def holding(body: Body) -> Body:
    """Each note becomes a trait, about the date that it names, or shows one again that says the same."""
    new, seen = [], []
    for number, text in shown_notes(body).items():
        known = [trait for trait, said in shown_traits(body).items() if alike(text, said)]
        if known:
            seen.append({"trait": known[0], "notes": [number]})
        else:
            ahead = re.search(r"\d{4}-\d\d-\d\d", text)
            new.append({"text": text, "notes": [number], "until": ahead[0] if ahead else ""})
    return {"new": new, "seen": seen, "updates": []}


def be_honest(server: ModelServer) -> None:
    """Let the server judge so."""
    server.on[NOTES], server.on[TRAITS] = habits, holding


def _third_person(text: str) -> str:
    verb = re.sub(r"^.*?\bI (\w+)", lambda found: f"{found[1]}s", text)
    return verb[:1].upper() + verb[1:]


def _numbered(pattern: str, body: Body) -> dict[int, str]:
    found = re.findall(pattern, body["messages"][-1]["content"], re.MULTILINE)
    return {int(number): text for number, text in found}
