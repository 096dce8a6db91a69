"""Who judges in the evaluation of people: one that proposes whatever either speaker says of themselves, rightly and wrongly.

It answers what the real judge is asked, by what stands in the request: the numbered lines, the notes, the traits.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, cycle
from typing import Any, Final

from bot.memory.likeness import likeness
from bot.memory.passages import sentences

_LINE: Final = re.compile(r"^\[(\d+) (\w+) [^\]]*\] (.*)$", re.MULTILINE)
_NOTE: Final = re.compile(r"^#(\d+) \d{4}-\d\d-\d\d (.*)$", re.MULTILINE)
_TRAIT: Final = re.compile(r"^#(\d+) (.*)$", re.MULTILINE)
# What lasts: likes and dislikes, habits, homes, work, efforts.
_LASTING: Final = re.compile(
    r"好き|好む|嫌い|苦手|得意|趣味|毎日|毎朝|毎晩|毎週|いつも|よく|住んで|住まい|出身|飼って|働いて|仕事|通って|続けて|目指して"
    r"|ハマって|はまって|習って|集めて|派です|つい|応援して"
    r"|\b(?:like|love|hate|always|every|usually|live|work|keep|collect|learning)\b"
)
_OF_SELF: Final = re.compile(r"私|僕|俺|自分|うち|ました|てます|ています|ことがあり|したい|\bI(?:'m)?\b|\bmy\b")
# What is asked, or told to the other about the other.
_OF_OTHER: Final = re.compile(r"[?？]|か[。！]?\s*$|さん|あなた|でしょう|です[よ]?ね|ます[よ]?ね|た[よ]?ね|\byou\b")
_SHORTEST: Final = 6
_LONGEST: Final = 80
_KNOWN: Final = 0.5
_NOWHERE: Final = 9_999
_GUESS: Final = "、とても楽しそう"
_START: Final = 20
_INVENTED: Final = "休みの日には必ず一人で雪山に登る"
_TODAY: Final = "今日は機嫌が良い"


def of_oneself(text: str) -> Iterator[str]:
    """The sentences in which whoever writes says something of themselves."""
    for sentence in sentences(text):
        piece = sentence.strip()
        says = _LASTING.search(piece) or _OF_SELF.search(piece)
        if says and _SHORTEST <= len(piece) <= _LONGEST and not _OF_OTHER.search(piece):
            yield piece


class ScriptedJudge:
    """Proposes a note for each thing that the person or the other says of themselves, as if all were the person's.

    Of five things that the person says, one is cited to another's line, and one to none that exists. What the other said is
    cited to the other's line, to the person's line below or above it, and to both. Each note of what lasts is proposed as a new
    trait; where it is alike a known one, as that in turn, and as its new text. ``proposed`` counts the notes that were proposed
    rightly and wrongly.
    """

    def __init__(self) -> None:
        self.proposed: Counter[str] = Counter()
        self._own = cycle(("own", "own", "own", "aside", "nowhere"))
        self._others = cycle(("aside", "below", "above", "both"))
        self._known = cycle(("new", "seen", "update"))

    def answer(self, purpose: str, message: str) -> str:
        """What it answers to a request of a purpose: notes for lines, traits for notes."""
        parts = message.split("\n\n")
        value = self._traits(parts) if purpose.endswith("traits") else self._notes(parts[-1])
        return json.dumps(value, ensure_ascii=False)

    def _notes(self, shown: str) -> dict[str, Any]:
        lines = [(int(number), kind, text) for number, kind, text in _LINE.findall(shown)]
        own = [number for number, kind, _ in lines if kind == "player"]
        others = [number for number, kind, _ in lines if kind != "player"]
        notes = [
            {"text": text, "cites": self._cites(number, own, others)}
            for number, _, line in lines
            for text in of_oneself(line)
        ]
        notes += [
            {"text": text[:_START] + _GUESS, "cites": own[:1]} for number, _, text in lines if [number] == own[:1]
        ]
        said = {number: set(of_oneself(line)) for number, _, line in lines if number in own}
        fitting = _fitting(notes, sum(len(text) for _, _, text in lines))
        rightly = sum(any(note["text"] in said.get(number, ()) for number in note["cites"]) for note in fitting)
        self.proposed.update({"rightly": rightly, "wrongly": len(fitting) - rightly})
        return {"notes": fitting}

    def _cites(self, number: int, own: Sequence[int], others: Sequence[int]) -> list[int]:
        if number in own:
            aside = min(others, key=lambda other: abs(other - number), default=_NOWHERE)
            return {"own": [number], "aside": [aside], "nowhere": [_NOWHERE]}[next(self._own)]
        below = next((n for n in own if n > number), _NOWHERE)
        above = next((n for n in reversed(own) if n < number), _NOWHERE)
        return {"aside": [number], "below": [below], "above": [above], "both": [number, below]}[next(self._others)]

    def _traits(self, parts: Sequence[str]) -> dict[str, Any]:
        notes = [(int(number), text) for number, text in _NOTE.findall(parts[-1])]
        known = [(int(number), text) for part in parts[:-1] for number, text in _TRAIT.findall(part)]
        answer: dict[str, list[dict[str, Any]]] = {"new": [], "seen": [], "updates": []}
        for number, text in notes:
            if not _LASTING.search(text):
                continue
            like = max(known, key=lambda trait: likeness(trait[1], text), default=None)
            how = next(self._known) if like and likeness(like[1], text) >= _KNOWN else "new"
            match (how, like):
                case ("seen", (trait, _)):
                    answer["seen"].append({"trait": trait, "notes": [number]})
                case ("update", (trait, _)):
                    answer["updates"].append({"trait": trait, "text": text, "notes": [number]})
                case _:
                    answer["new"].append({"text": text, "notes": [number], "until": ""})
        first = [number for number, _ in notes[:1]]
        answer["new"] += [{"text": text, "notes": first, "until": ""} for text in (_TODAY, _INVENTED)]
        answer["seen"].append({"trait": _NOWHERE, "notes": first})
        room = sum(len(text) for _, text in (*notes, *known)) - sum(len(item["text"]) for item in answer["updates"])
        return {**answer, "new": _fitting(answer["new"], room)}


def _fitting(items: Sequence[dict[str, Any]], room: int) -> list[dict[str, Any]]:
    """The first of the items whose texts together are not longer than ``room``: a longer answer is rejected as a whole."""
    ends = accumulate(len(item["text"]) for item in items)
    return [item for item, end in zip(items, ends, strict=True) if end <= room]
