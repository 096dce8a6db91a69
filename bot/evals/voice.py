"""``kataribe eval voice``: whether a character keeps its voice after folds.

A story is played by the real engine and folder. As it stood before the first fold, all of it raw, and as it stands after the last
one, memory and a few raw turns, the same questions are asked, each of a copy of the database, so that no question leaves a trace.
A judge sees the card and two answers, and not which is which, once in each order. Beside it the judge is given pairs of answers
that both come from before the first fold: what it finds there is chance and its own taste.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from bot.charts import COLOURS, figure, png
from bot.errors import KataribeError
from bot.evals.answers import Keeper
from bot.evals.archives import Told, is_export, load_export, load_session, story_of
from bot.evals.interview import MOST_REPEATS, Interview, Pair, moments, open_models
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import Run, open_run
from bot.evals.stories import Story, load_story
from bot.evals.voice_wording import VOICE_WORDINGS
from bot.export import flat
from bot.memory.prompt import Card

MOST_QUESTIONS: Final = len(VOICE_WORDINGS["en"].questions)
_PICTURE: Final = "voice.png"
_DOCUMENT: Final = "voice.md"

_OUTCOMES: Final = ("better", "same", "worse", "disagree")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge found of the pairs of a kind.

    ``shares`` are those of the judged pairs; ``share_of_a`` is how often it chose what stood first, of all times that it chose,
    a half without bias; None where it never chose.
    """

    pairs: int
    judged: int
    counts: dict[str, int]
    shares: dict[str, float]
    share_of_a: float | None
    identical: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome for one story. ``replies_failed`` and ``unjudged`` count by why; ``prose_replies`` were not whole in the form
    asked for.
    """

    story: str
    questions: int
    repeats: int
    before: dict[str, int]
    after: dict[str, int]
    folds_failed: dict[str, int]
    outcomes: dict[str, Outcome]
    prose_replies: int
    replies_failed: dict[str, int]
    unjudged: dict[str, int]
    pairs: tuple[Pair, ...]


async def run(
    *,
    story: Path | None,
    session: int | None,
    model: str,
    questions: int,
    repeats: int,
    seed: int,
    limit: int | None,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Ask, have it judged, and print the figures; True, as a model's taste passes nothing and fails nothing.

    Raises StoryUnreadable, ExportUnreadable, ModelGone, SettingsError when the model of the settings is to play and none is set,
    and KataribeError for a story in which nothing is ever folded.
    """
    logging.getLogger("bot").addHandler(logging.NullHandler())  # what is noteworthy is in the figures
    _check(story, session, questions, repeats)
    tale, card = await _loaded(story, session)
    tale = _ended_by_a_reply(tale, limit)
    chosen = {"questions": questions, "repeats": repeats, "limit": limit, "session": session}
    made = open_run("eval voice", out, settings=chosen, seed=seed, inputs=[story] if story else [])
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        models = await open_models(stack, model, made, seed, repeats)
        with progress(len(tale.turns), f"{tale.id}: playing") as advance:
            before, after, settings = await moments(tale, card, models.at, folder, advance)
        asked = VOICE_WORDINGS[tale.language].questions[:questions]
        with progress(len(asked) * repeats * 7, f"{tale.id}: asking and judging") as advance:
            interview = Interview(tale, card, settings, models, advance)
            pairs = [pair for q in asked for pair in await interview.pairs(q, before, after)]
        made.note(budgets=asdict(settings.budgets(None)))
        made.note(model=models.name, judge=models.client.profile.model)
    figures = Figures(
        story=tale.id,
        questions=len(asked),
        repeats=repeats,
        before={"chapters": before.chapters, "raw turns": before.raw_turns},
        after={"chapters": after.chapters, "raw turns": after.raw_turns},
        folds_failed=dict(after.folds_failed),
        outcomes={kind: outcome([pair for pair in pairs if pair.kind == kind]) for kind in ("after", "control")},
        prose_replies=interview.prose,
        replies_failed=dict(interview.failed),
        unjudged=dict(interview.unjudged),
        pairs=tuple(pairs),
    )
    made.note(answers=_sum(models.keepers))
    shown = [{**asdict(pair), "outcome": pair.outcome} for pair in pairs]
    whole = made.save({**asdict(figures), "pairs": shown})
    (made.folder / _DOCUMENT).write_text("\n".join(_as_document(figures, made)), encoding="utf-8")
    await asyncio.to_thread(_draw, made, figures)
    print(json.dumps(whole, ensure_ascii=False, indent=1) if as_json else _as_table(figures, made))
    return True


def _check(story: Path | None, session: int | None, questions: int, repeats: int) -> None:
    if (story is None) == (session is None):
        raise KataribeError("Name either a file, or a story of the database with --session.")
    if not 1 <= questions <= MOST_QUESTIONS:
        raise KataribeError(f"--questions {questions}: there are 1 to {MOST_QUESTIONS}.")
    if not 1 <= repeats <= MOST_REPEATS:
        raise KataribeError(f"--repeats {repeats}: there are 1 to {MOST_REPEATS}.")


async def _loaded(path: Path | None, session: int | None) -> tuple[Story, Card]:
    """A story to be played, and the card that plays it."""
    told: Told | None = None
    if session is not None:
        told = await load_session(session)
    elif path is not None and is_export(path):
        told = load_export(path)
    if told is not None:
        return story_of(told), told.card
    story = load_story(path or Path())
    described = "\n".join(f"{card.name}: {card.description}" for card in story.cards)
    return story, Card(story.cards[0].name, described, personality=story.cards[0].personality)


def _ended_by_a_reply(story: Story, limit: int | None) -> Story:
    """The first ``limit`` turns less what nobody answers, so that a question is all that waits. Raises KataribeError."""
    turns = list(story.turns[:limit])
    while turns and turns[-1].by_player is not None:
        turns.pop()
    if not turns:
        raise KataribeError(f"{story.id} has no reply of a character to ask after.")
    return story.model_copy(update={"turns": tuple(turns)})


def outcome(pairs: Sequence[Pair]) -> Outcome:
    """What was found of pairs of one kind."""
    judged = [pair for pair in pairs if pair.outcome]
    found = Counter(pair.outcome for pair in judged)
    asked = [pair for pair in judged if pair.answers[0] != pair.answers[1]]
    chosen = [choice for pair in asked for choice in (pair.first, pair.second) if choice != "same"]
    return Outcome(
        pairs=len(pairs),
        judged=len(judged),
        counts={name: found[name] for name in _OUTCOMES},
        shares={name: round(found[name] / max(1, len(judged)), 3) for name in _OUTCOMES},
        share_of_a=round(chosen.count("A") / len(chosen), 3) if chosen else None,
        identical=sum(pair.answers[0] == pair.answers[1] for pair in pairs),
    )


def _sum(keepers: Sequence[Keeper]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for keeper in keepers:
        total.update(keeper.counts)
    return {name: total[name] for name in ("kept", "asked", "failed")}


def _as_table(figures: Figures, made: Run) -> str:
    rows = [
        ("before the first fold", counts(figures.before)),
        ("after the last", counts(figures.after)),
        ("failed tries of folds that are open", counts(figures.folds_failed)),
        ("questions, repeats", f"{figures.questions}, {figures.repeats}"),
    ]
    for kind, name in (("after", "after the folds"), ("control", "control: both from before")):
        found = figures.outcomes[kind]
        bias = "it never chose" if found.share_of_a is None else f"{found.share_of_a:.2f}"
        shares = ", ".join(f"{what} {found.counts[what]} ({found.shares[what]:.2f})" for what in _OUTCOMES[:3])
        rows += [
            (name, f"{found.judged} of {found.pairs} pairs judged"),
            ("  sounds more like the card, in both orders", shares),
            ("  the orders disagree", f"{found.counts['disagree']} ({found.shares['disagree']:.2f})"),
            ("  what stood first was chosen", bias),
            ("  answers that were identical", str(found.identical)),
        ]
    rows += [
        ("replies that are not whole in the form asked", str(figures.prose_replies)),
        ("replies that did not come", counts(figures.replies_failed)),
        ("judgements of no use", counts(figures.unjudged)),
    ]
    record = made.record
    title = f"{figures.story}: played by {record['model']}, judged by {record['judge']}, seed {record['seed']}"
    return f"{table(title, rows)}\n\nEach pair: {made.folder / _DOCUMENT}"


def _as_document(figures: Figures, made: Run) -> Iterator[str]:
    yield "# Voice"
    yield from ("", "```", _as_table(figures, made), "```")
    for number, pair in enumerate(figures.pairs, start=1):
        second = "after the folds" if pair.kind == "after" else "before the folds, another seed"
        yield from ("", f"## {number}. {flat(pair.question)}", "", f"{pair.kind}: {pair.outcome or 'not judged'}", "")
        yield f"- before the folds: {flat(pair.answers[0])}"
        yield f"- {second}: {flat(pair.answers[1])}"
        yield f"- chosen: {pair.first or 'nothing'} in this order, {pair.second or 'nothing'} in the other"
    yield ""


def _draw(made: Run, figures: Figures) -> None:
    """For each kind of pair a bar of its shares."""
    picture = figure(8, 3.4)
    axes = picture.subplots()
    names: Mapping[str, str] = {"control": "both before\n(control)", "after": "after against\nbefore"}
    kinds = list(names)
    lefts = [0.0] * len(kinds)
    for place, what in enumerate(_OUTCOMES):
        shares = [figures.outcomes[kind].shares[what] for kind in kinds]
        label = "the orders disagree" if what == "disagree" else what
        bars = axes.barh(range(len(kinds)), shares, left=lefts, color=COLOURS[place], label=label)
        axes.bar_label(bars, [f"{share:.2f}" if share else "" for share in shares], label_type="center", color="white")
        lefts = [left + share for left, share in zip(lefts, shares, strict=True)]
    axes.set_yticks(range(len(kinds)), [f"{names[kind]}\n{figures.outcomes[kind].judged} pairs" for kind in kinds])
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of pairs: the second answer sounds … like the card")
    axes.set_title(f"{figures.story}: played by {made.record['model']},\njudged by {made.record['judge']}")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=len(_OUTCOMES))
    made.picture(_PICTURE).write_bytes(png(picture))
