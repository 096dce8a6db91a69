"""The questions of an evaluation of recall: those that came with the data, or made by the model; each with an age."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from bot.evals.asking import Asker
from bot.evals.conversations import Conversation, Question, Spoken
from bot.memory.forms import array_form, number_form, object_form, objects_of, text_form, text_of
from bot.memory.language import Language, detect_language
from bot.memory.messages import Message

AGES: Final = ("oldest fifth", "second", "third", "fourth", "newest fifth")
"""The buckets of the curve: fifths of the conversation by its turns."""
LANGUAGES: Final[Mapping[Language, str]] = {"en": "English", "ja": "Japanese", "zh": "Chinese"}
QUESTION_FORM: Final = "recall_questions"
A_STRETCH: Final = 8
"""Questions for each stretch."""
_LONGEST_QUESTION: Final = 160
_LONGEST_ANSWER: Final = 60
_MOST_CITES: Final = 3
_OUTPUT_TOKENS: Final = 1_200
_ASK: Final = (
    "You read a part of a long talk; each line has its number in brackets. Ask {count} questions about what happened or was "
    "told in it, as they are asked much later by somebody who wants to know how well it is remembered. Each question has to "
    "be clear without the talk, must name who it is about, and has one short answer that stands in the lines. Write questions "
    "and answers in {language}, and for each answer the numbers of the lines it stands in."
)


def language_of(talk: Conversation) -> Language:
    """The language that a conversation is held in."""
    return detect_language("\n".join(turn.text for turn in talk.turns))


def age_of(question: Question, talk: Conversation) -> int | None:
    """The bucket of a question's oldest evidence, 0 for the oldest; None where it is not known."""
    place = _place(question, {turn.id: place for place, turn in enumerate(talk.turns)})
    return None if place is None else min(len(AGES) - 1, place * len(AGES) // len(talk.turns))


def chosen(talk: Conversation, questions: Sequence[Question], count: int | None, seed: int) -> tuple[Question, ...]:
    """So many of the questions, evenly over the ages of their evidence; of those without an answer as large a share as in all.

    Each is drawn from its slice of the ages by ``seed``. All of them without a ``count``.
    """
    if count is None or count >= len(questions):
        return tuple(questions)
    draw = random.Random(seed)  # noqa: S311 - a repeatable choice, not a secret
    places = {turn.id: place for place, turn in enumerate(talk.turns)}
    oldest = sorted(questions, key=lambda one: (_place(one, places) is None, _place(one, places) or 0))
    open_ones = [one for one in oldest if one.answer is None]
    answered = [one for one in oldest if one.answer is not None]
    share = round(count * len(open_ones) / len(questions))
    share = min(share, count - 1) if answered else count
    kept = {one.id for one in (*_spread(answered, count - share, draw), *_spread(open_ones, share, draw))}
    return tuple(one for one in questions if one.id in kept)


def stretches(turns: Sequence[Spoken], most_tokens: int, size: Callable[[str], int]) -> list[list[Spoken]]:
    """Neighbouring turns of so many tokens together at most."""
    found: list[list[Spoken]] = []
    room = 0
    for turn in turns:
        tokens = size(turn.line)
        if not found or tokens > room:
            found.append([])
            room = most_tokens
        found[-1].append(turn)
        room -= tokens
    return found


async def made(
    talk: Conversation, asker: Asker, room: int, advance: Callable[[int], object]
) -> tuple[tuple[Question, ...], Counter[str]]:
    """Questions that the model makes of each stretch of ``room`` tokens, and what was wrong with them. Raises ModelGone."""
    language = LANGUAGES[language_of(talk)]
    places = {turn.id: place for place, turn in enumerate(talk.turns, start=1)}
    holes: Counter[str] = Counter()
    found: list[Question] = []
    for number, stretch in enumerate(stretches(talk.turns, room, asker.guess), start=1):
        lines = {places[turn.id]: turn for turn in stretch}
        shown = "\n".join(f"[{place}] {turn.line}" for place, turn in lines.items())
        said = await asker.json(
            "questions",
            (Message("system", _ASK.format(count=A_STRETCH, language=language)), Message("user", shown)),
            _schema(lines),
            _OUTPUT_TOKENS,
            name=QUESTION_FORM,
        )
        advance(1)
        if said.value is None:
            holes["stretches without questions"] += 1
            continue
        for place, record in enumerate(objects_of(said.value.get("questions"), A_STRETCH), start=1):
            question = _question(record, lines, f"{number}.{place}", holes)
            found += [question] if question else []
    return tuple(found), holes


def _question(
    record: Mapping[str, Any], lines: Mapping[int, Spoken], identity: str, holes: Counter[str]
) -> Question | None:
    text, answer = text_of(record.get("question")).strip(), text_of(record.get("answer")).strip()
    cited = record.get("cites")
    evidence = tuple(lines[n].id for n in cited if n in lines) if isinstance(cited, list) else ()
    if not text or not answer:
        holes["questions without words or an answer"] += 1
        return None
    if not evidence:
        holes["questions made without evidence"] += 1
        return None
    return Question(identity, text, answer, tuple(dict.fromkeys(evidence)), "made")


def _schema(lines: Mapping[int, Spoken]) -> dict[str, Any]:
    cites = {"type": "array", "items": number_form(lines), "minItems": 1, "maxItems": _MOST_CITES}
    question = object_form(question=text_form(_LONGEST_QUESTION), answer=text_form(_LONGEST_ANSWER), cites=cites)
    return object_form(questions=array_form(question, A_STRETCH))


def _place(question: Question, places: Mapping[str, int]) -> int | None:
    return min((places[one] for one in question.evidence if one in places), default=None)


def _spread(ordered: Sequence[Question], count: int, draw: random.Random) -> list[Question]:
    """One of each of so many equal slices."""
    count = min(count, len(ordered))
    bounds = [len(ordered) * cut // count for cut in range(count + 1)] if count else [0]
    return [draw.choice(ordered[low:high]) for low, high in pairwise(bounds)]
