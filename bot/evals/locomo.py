"""Reads the conversations of LoCoMo (https://github.com/snap-research/locomo): sessions of two speakers, questions, evidence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from bot.evals.conversations import Conversation, ConversationFile, Log, Question, text_in, written_time

KIND: Final = "LoCoMo"
_SESSION: Final = re.compile(r"session_(\d+)(_date_time)?")
_CITE: Final = re.compile(r"D\s*:?\s*0*(\d+)\s*:\s*0*(\d+)", re.IGNORECASE)
# Of this category no answer is in the chat.
_UNANSWERABLE: Final = "5"
# A session has one time; its messages follow a minute apart.
_APART: Final = timedelta(minutes=1)


def is_locomo(value: object) -> bool:
    """Whether parsed JSON is LoCoMo's: a list of samples, or one of them."""
    samples = value if isinstance(value, list) else [value]
    return any(isinstance(sample, dict) and isinstance(sample.get("conversation"), dict) for sample in samples)


def read_locomo(value: object) -> ConversationFile:
    """The samples that hold a conversation. The first speaker is the player, the second the character."""
    samples = value if isinstance(value, list) else [value]
    found: list[Conversation] = []
    holes = Counter[str]()
    for place, sample in enumerate(samples, start=1):
        if isinstance(sample, dict) and isinstance(sample.get("conversation"), dict):
            identity = text_in(sample, "sample_id") or f"sample {place}"
            if any(one.id == identity for one in found):
                holes["sample ids used twice"] += 1
                identity = f"{identity} ({place})"
            found.append(_conversation(sample, identity))
        else:
            holes["samples without a conversation"] += 1
    return ConversationFile(KIND, tuple(found), holes)


def _conversation(sample: Mapping[str, Any], identity: str) -> Conversation:
    talk = sample["conversation"]
    log = Log()
    player, character = text_in(talk, "speaker_a"), text_in(talk, "speaker_b")
    for session, at in _sessions(talk, log.holes):
        for place, message in enumerate(session):
            if not isinstance(message, dict):
                log.holes["messages of another form"] += 1
                continue
            speaker = text_in(message, "speaker")
            if not player:
                player = speaker
            if not character and speaker != player:
                character = speaker
            if speaker and speaker not in (player, character):
                log.holes["messages of a third speaker"] += 1
            caption = text_in(message, "blip_caption")
            log.add(
                message.get("dia_id"), speaker, message.get("text"), at + place * _APART if at else None,
                by_character=speaker == character, pictures=(caption,) if caption else (),
            )  # fmt: skip
    questions = tuple(_questions(sample.get("qa"), {turn.id for turn in log.turns}, log.holes))
    return Conversation(identity, player or "?", character or "?", tuple(log.turns), questions, holes=log.holes)


def _sessions(talk: Mapping[str, Any], holes: Counter[str]) -> Iterator[tuple[list[Any], datetime | None]]:
    """The sessions in order, each with its time."""
    numbers = sorted({int(match[1]) for name in talk if (match := _SESSION.fullmatch(name))})
    for number in numbers:
        session, written = talk.get(f"session_{number}"), talk.get(f"session_{number}_date_time")
        if not isinstance(session, list) or not session:
            holes["sessions missing"] += 1
            continue
        at = written_time(written)
        if at is None:
            holes["sessions without a time"] += 1
        yield session, at


def _questions(asked: object, ids: set[str], holes: Counter[str]) -> Iterator[Question]:
    if not isinstance(asked, list):
        holes["samples without questions"] += 1
        return
    for place, record in enumerate(asked, start=1):
        if not isinstance(record, dict) or not text_in(record, "question"):
            holes["questions of another form"] += 1
            continue
        category = str(record.get("category", ""))
        answer = record.get("answer")
        if isinstance(answer, int | float) and not isinstance(answer, bool):
            holes["answers that are numbers"] += 1
            answer = str(answer)
        if not isinstance(answer, str) or not answer.strip():
            if category != _UNANSWERABLE:
                holes["questions without an answer"] += 1
                continue
            answer = None
        elif category == _UNANSWERABLE:
            holes["questions of category 5 with an answer"] += 1
        evidence = _evidence(record.get("evidence"), ids, holes)
        yield Question(str(place), text_in(record, "question"), answer, evidence, category)


def _evidence(cited: object, ids: set[str], holes: Counter[str]) -> tuple[str, ...]:
    """The ids that exist; badly written ones are mended where it is plain what is meant."""
    cites = cited if isinstance(cited, list) else [cited] if cited else []
    found: list[str] = []
    for cite in cites:
        read = [f"D{session}:{place}" for session, place in _CITE.findall(cite)] if isinstance(cite, str) else []
        if not read:
            holes["evidence ids unreadable"] += 1
        elif read != [cite]:
            holes["evidence ids mended"] += 1
        holes["evidence ids of nothing in the chat"] += sum(one not in ids for one in read)
        found += [one for one in read if one in ids]
    if not cites:
        holes["questions without evidence"] += 1
    elif not found:
        holes["questions whose evidence is nowhere"] += 1
    return tuple(dict.fromkeys(found))
