"""Counting what players wrote, and what came back: nothing may be lost, and nothing come twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bot.evals.light_discord import Said

_NUMBER: Final = re.compile(r"\bm(\d+)\b")


def number_in(text: str) -> int | None:
    """The number of the newest message in a text."""
    found = _NUMBER.findall(text)
    return int(found[-1]) if found else None


@dataclass(frozen=True, slots=True)
class Sent:
    """A player's message: its number stands in its text."""

    number: int
    channel_id: int
    at: float


@dataclass(slots=True)
class Tally:
    """What was sent and what came back. An answer bears the number of the newest message that it answers, and answers all of
    its channel that came before, where ``together`` says so."""

    together: bool
    sent: dict[int, Sent] = field(default_factory=dict)
    answered: dict[int, float] = field(default_factory=dict)
    _waiting: dict[int, list[int]] = field(default_factory=dict)

    def send(self, number: int, channel_id: int, at: float) -> None:
        """A player writes."""
        self.sent[number] = Sent(number, channel_id, at)
        self._waiting.setdefault(channel_id, []).append(number)

    def hear(self, said: Said, at: float) -> None:
        """The bot says something."""
        number = number_in(said.text)
        waiting = self._waiting.get(said.channel_id, [])
        for each in [n for n in waiting if n == number or (self.together and number is not None and n < number)]:
            waiting.remove(each)
            self.answered[each] = at

    @property
    def left(self) -> int:
        """How many messages wait for an answer."""
        return len(self.sent) - len(self.answered)


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database has of a run: the numbers of the players' turns, and the messages tied to each kept reply, by the number
    that it bears and whether a player's turn stands before it."""

    heard: Counter[int]
    replies: tuple[tuple[int | None, tuple[int, ...]], ...]
    unanswered: int


@dataclass(frozen=True, slots=True)
class Mistakes:
    """What must not be: messages ``lost`` and ``doubled``, by what is wrong with them."""

    lost: dict[str, int]
    doubled: dict[str, int]

    @property
    def none(self) -> bool:
        """Whether all is well."""
        return not any(self.lost.values()) and not any(self.doubled.values())


def mistakes(tally: Tally, standing: Sequence[Said], rows: Rows | None) -> Mistakes:
    """Compare what was sent with what stands in the channels, and with the rows of the bot that has any."""
    answers = Counter((said.channel_id, number_in(said.text)) for said in standing if said.by_webhook)
    lost = {"without an answer": tally.left}
    doubled = {"answered again": sum(count - 1 for count in answers.values())}
    if rows is not None:
        tied = Counter(message_id for _, ids in rows.replies for message_id in ids)
        there = {said.message_id for said in standing if said.by_webhook}
        lost |= {
            "not committed": len(tally.sent.keys() - rows.heard.keys()),
            "committed without a reply": rows.unanswered,
            "replies not in the channel": sum(1 for _, ids in rows.replies if not ids or not there.issuperset(ids)),
        }
        doubled |= {
            "committed again": sum(count - 1 for count in rows.heard.values()),
            "answers without a row": len(there - tied.keys()),
            "messages of two replies": sum(count - 1 for count in tied.values()),
        }
    return Mistakes(lost, doubled)
