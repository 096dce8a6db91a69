"""A conversation whose truth is known, and a model that remembers, summarises, answers and grades in a known way.

Each exchange has one thing that the player tells of herself and one that happens; both name a word that stands nowhere else, and a
place. The model's folds keep all of both, its major folds lose every other event, its summaries keep the newest part alone.
"""

from __future__ import annotations

import re
from typing import Any

from bot.evals.folders import numbered
from tests.support.model_script import Body
from tests.support.model_server import ModelServer

THINGS = (
    "lantern anchor violin compass kettle mirror ladder saddle chisel banner goblet tapestry thimble whistle barrel candle "
    "hammock trumpet helmet blanket"
).split()
EVENTS = (
    "ferry orchard blizzard parade wedding harvest eclipse duel auction picnic funeral regatta quarrel landslide concert "
    "banquet fire flood robbery marriage"
).split()
PLACES = (
    "Bergen Lisbon Kyoto Quito Dakar Riga Perth Oslo Malta Cusco Sofia Turin Osaka Lagos Minsk Davos Accra Salem Delhi Ghent"
).split()
CHATTER = (
    "The rain kept falling on the slates, and nobody in the lane had slept much.",
    "Somebody had baked bread downstairs; its smell climbed up through the floor boards.",
    "My cousin still writes long letters about her bees, her knees, and her lawyers.",
    "Two gulls fought over a crust, which amused the whole of the fish market.",
    "Later the fog came in so thick that the church lost its spire for an hour.",
)
_TOLD = re.compile(r"I keep my (\w+) in (\w+)|The (\w+) took place in (\w+)")
_LINE = re.compile(r"^\[(\d+\.\d+) \w+ ([^\]]*)\] (.*)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
UNKNOWN = "unicorn"


def thing(place: int) -> str:
    return f"I keep my {THINGS[place]} in {PLACES[place]}."


def event(place: int) -> str:
    return f"The {EVENTS[place]} took place in {PLACES[-1 - place]}."


def sample(exchanges: int) -> dict[str, Any]:
    """A LoCoMo sample with a question for each thing, and one that nothing answers."""
    sessions: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for at in range(exchanges):
        chatter = " ".join(CHATTER[at % 5 :] + CHATTER[: at % 5])
        sessions[f"session_{at + 1}_date_time"] = f"10:00 am on {at + 1} May, 2023"
        sessions[f"session_{at + 1}"] = [
            {"speaker": "Ada", "dia_id": f"D{at + 1}:1", "text": f"{chatter} {thing(at)}"},
            {"speaker": "Bo", "dia_id": f"D{at + 1}:2", "text": f"*{event(at)}* {chatter}"},
        ]
    asked = [
        {
            "question": f"Where does Ada keep her {THINGS[at]}?",
            "answer": PLACES[at],
            "evidence": [f"D{at + 1}:1"],
            "category": 1,
        }
        for at in range(exchanges)
    ]
    asked.append(
        {"question": f"Where is the {UNKNOWN}?", "adversarial_answer": "?", "evidence": ["D1:1"], "category": 5}
    )
    return {"sample_id": "known", "conversation": sessions, "qa": asked}


class Rememberer:
    """What the model answers. ``invents`` has it tell a place for what no memory names; ``prose`` leaves out JSON for a word."""

    def __init__(self, *, invents: bool = False, prose: str = "") -> None:
        self.invents = invents
        self.prose = prose

    def answers(self, server: ModelServer) -> None:
        """Let a server answer so."""
        server.on_fold = self.fold
        server.on_major_fold = self.major_fold
        server.on_reply = self.summary
        server.on["recall_answer"] = self.answer
        server.on["recall_grade"] = self.grade
        server.on["recall_questions"] = self.questions

    def fold(self, body: Body) -> Body:
        memories = [
            {
                "kind": "fact" if told[1] else "event",
                "text": told[0],
                "actual": "",
                "who": speaker,
                "to": "",
                "cites": [cite],
            }
            for cite, speaker, line in _LINE.findall(body["messages"][-1]["content"])
            for told in _TOLD.finditer(line)
        ]
        return {"memories": memories, "opened": [], "resolved": []}

    def major_fold(self, body: Body) -> Body:
        events = list(numbered(body["messages"][-1]["content"]).items())
        pairs = [events[at : at + 2] for at in range(0, len(events), 2)]
        return {"events": [{"text": pair[0][1], "condenses": [number for number, _ in pair]} for pair in pairs]}

    def summary(self, body: Body) -> str:
        part = body["messages"][-1]["content"].partition("The new part of the talk:")[2]
        return " ".join(told[0] for told in _TOLD.finditer(part))

    def answer(self, body: Body) -> Body | str:
        system, user = body["messages"]
        memory = f"{system['content'].partition('Memory:')[2]}\n{user['content']}"
        word = re.findall(r"\w+", user["content"])[-1]
        places = [told[2] or told[4] for told in _TOLD.finditer(memory) if word in (told[1], told[3])]
        if word == self.prose and places:
            return f"It is in {places[0]}, as far as I remember."
        if not places and self.invents and "(nothing)" not in memory:
            return {"known": True, "answer": "Atlantis"}
        return {"known": bool(places), "answer": places[0] if places else ""}

    def grade(self, body: Body) -> Body:
        shown = body["messages"][-1]["content"]
        right, given = re.findall(r"^(?:Right answer|Answer to grade): (.*)$", shown, re.MULTILINE)
        return {"right": right in given}

    def questions(self, body: Body) -> Body:
        found = []
        for number, line in _NUMBERED.findall(body["messages"][-1]["content"]):
            found += [
                {"question": f"Where does Ada keep her {told[1]}?", "answer": told[2], "cites": [int(number)]}
                for told in _TOLD.finditer(line)
                if told[1]
            ]
        return {"questions": found}
