"""The figures of an evaluation of recall, as a record, a table and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Final

from bot.charts import COLOURS, figure, png
from bot.evals.grading import Agreement, agreement
from bot.evals.recall_arms import ARMS
from bot.evals.recall_questions import AGES
from bot.evals.report import counts, table

GRADERS: Final[Mapping[str, str]] = {"model": "the model", "text": "plain text"}
_NO_FIGURE: Final = "–"
_DASHES: Final = ("-", "--", "-.", ":", "-", "--", "-.")
_MARKS: Final = "osD^vPX"
_ASIDE: Final = 0.04


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer and its grades. ``age`` is the bucket of its evidence; ``right`` is None where the talk has no answer.

    ``model`` and ``text`` are the verdicts of the two graders, None where there is none; where it ``declined`` nobody was asked.
    """

    conversation: str
    repeat: int
    arm: str
    question: str
    asked: str
    category: str
    age: int | None
    right: str | None
    given: str
    declined: bool
    model: bool | None = None
    text: bool | None = None

    def verdict(self, grader: str) -> bool | None:
        """The verdict of a grader."""
        return self.model if grader == "model" else self.text


@dataclass(frozen=True, slots=True)
class Share:
    """A share of graded answers: its mean over the repeats, the lowest and the highest of them, and how many answers it is of."""

    mean: float | None
    low: float | None
    high: float | None
    answers: int


@dataclass(frozen=True, slots=True)
class Length:
    """How long the memories of an arm are, in characters and tokens: their mean, the shortest and the longest."""

    characters: float
    tokens: float
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """What came of an arm. ``recall`` and ``by_age`` are by grader; ``invented`` is of the questions without an answer."""

    name: str
    length: Length
    recall: Mapping[str, Share]
    by_age: Mapping[str, tuple[Share, ...]]
    by_category: Mapping[str, Mapping[str, Share]]
    invented: Share
    declined: Share


def arm_figures(arm: str, answers: Iterable[Answered], lengths: Sequence[tuple[int, int]]) -> ArmFigures:
    """The figures of an arm; ``lengths`` are the characters and tokens of its memories."""
    own = [one for one in answers if one.arm == arm]
    answerable = [one for one in own if one.right is not None]
    characters = [pair[0] for pair in lengths]
    categories = sorted({one.category for one in answerable})
    return ArmFigures(
        ARMS[arm],
        Length(fmean(characters), fmean(pair[1] for pair in lengths), min(characters), max(characters)),
        {grader: _right(answerable, grader) for grader in GRADERS},
        {
            grader: tuple(_right([one for one in answerable if one.age == age], grader) for age in range(len(AGES)))
            for grader in GRADERS
        },
        {
            name: {grader: _right([a for a in answerable if a.category == name], grader) for grader in GRADERS}
            for name in categories
        },
        _share([one for one in own if one.right is None], lambda one: not one.declined),
        _share(answerable, lambda one: one.declined),
    )


def agreed(answers: Iterable[Answered]) -> Agreement:
    """How the two graders agree on the answers that both were asked about."""
    return agreement((one.model, one.text) for one in answers if one.right is not None and not one.declined)


def as_table(whole: Mapping[str, Any], arms: Sequence[ArmFigures], agreement_of: Agreement) -> str:
    """Everything that a person wants to see of a run."""
    parts = [_lengths_table(arms, whole)]
    parts += [_ages_table(arms, grader) for grader in GRADERS]
    rows = [(f"bad input, {name}", counts(found)) for name, found in whole["bad_input"].items()]
    rows += [(f"folds of {fold['conversation']}, repeat {fold['repeat'] + 1}", _folds(fold)) for fold in whole["folds"]]
    rows += [(f"did not fit, {ARMS[arm]}", counts(found)) for arm, found in whole["cut"].items() if found]
    rows.append(("answers not as asked", counts(whole["not_as_asked"])))
    rows.append(("the two graders agree", _agreement(agreement_of)))
    rows.append(("requests", counts(whole["requests"])))
    return "\n\n".join([*parts, table("What else there is to know", rows)])


def picture(arms: Sequence[ArmFigures], title: str) -> bytes:
    """A PNG: recall by age as a curve for each arm, by each grader, and beside it the length of the memories."""
    drawn = figure(15, 5.4)
    drawn.suptitle(title)
    first, second, lengths = drawn.subplots(1, 3, width_ratios=(3, 3, 2))
    for axes, (grader, name) in zip((first, second), GRADERS.items(), strict=True):
        for place, arm in enumerate(arms):
            shares = [share.mean for share in arm.by_age[grader]]
            points = [float("nan") if share is None else share for share in shares]
            aside = _ASIDE * (place - len(arms) // 2)  # equal curves stay apart
            axes.plot(
                [age + aside for age in range(len(AGES))], points, _DASHES[place % 7], color=COLOURS[place % 7],
                marker=_MARKS[place % 7], label=arm.name, alpha=0.85,
            )  # fmt: skip
        axes.set_xticks(range(len(AGES)), AGES, rotation=20)
        axes.set_ylim(-0.04, 1.04)
        axes.set_xlabel("where the evidence stands in the conversation")
        axes.set_ylabel(f"recall, graded by {name}")
        axes.grid(alpha=0.3)
    drawn.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    names = [arm.name for arm in arms]
    bars = lengths.barh(
        range(len(arms)), [arm.length.characters for arm in arms], color=[COLOURS[i % 7] for i in range(len(arms))]
    )
    lengths.bar_label(bars, [f"{arm.length.characters:,.0f}" for arm in arms], padding=3)
    lengths.set_yticks(range(len(arms)), [name.replace(", ", ",\n") for name in names])
    lengths.invert_yaxis()
    lengths.margins(x=0.25)
    lengths.set_xlabel("length of the memory in characters")
    return png(drawn)


def _right(answers: Sequence[Answered], grader: str) -> Share:
    return _share([a for a in answers if a.verdict(grader) is not None], lambda one: bool(one.verdict(grader)))


def _share(answers: Sequence[Answered], is_so: Callable[[Answered], bool]) -> Share:
    repeats = sorted({one.repeat for one in answers})
    if not repeats:
        return Share(None, None, None, 0)
    shares = [fmean(is_so(one) for one in answers if one.repeat == repeat) for repeat in repeats]
    return Share(fmean(shares), min(shares), max(shares), len(answers))


def _lengths_table(arms: Sequence[ArmFigures], whole: Mapping[str, Any]) -> str:
    title = f"Recall from memory alone: {whole['model']}, repeats: {whole['settings']['repeats']}, seed {whole['seed']}"
    head = ["", "characters", "tokens", "recall (model)", "recall (text)", "invented", "declined"]
    rows = [
        [
            arm.name, f"{arm.length.characters:,.0f}", f"{arm.length.tokens:,.0f}", _told(arm.recall["model"]),
            _told(arm.recall["text"]), _told(arm.invented), _told(arm.declined),
        ]
        for arm in arms
    ]  # fmt: skip
    return "\n".join([title, *_columns([head, *rows])])


def _ages_table(arms: Sequence[ArmFigures], grader: str) -> str:
    asked = [f"{name} ({share.answers})" for name, share in zip(AGES, arms[0].by_age[grader], strict=True)]
    rows = [[arm.name, *(_mean(share) for share in arm.by_age[grader])] for arm in arms]
    title = f"By the age of the evidence, graded by {GRADERS[grader]} (answers)"
    return "\n".join([title, *_columns([["", *asked], *rows])])


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(["", *(f"{cell:<{w}}" if not i else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(row, widths, strict=True)))])
        for row in rows
    ]  # fmt: skip


def _told(share: Share) -> str:
    if share.mean is None:
        return _NO_FIGURE
    spread = "" if share.low == share.high else f" ({share.low:.2f}–{share.high:.2f})"
    return f"{share.mean:.2f}{spread}"


def _mean(share: Share) -> str:
    return _NO_FIGURE if share.mean is None else f"{share.mean:.2f}"


def _agreement(of: Agreement) -> str:
    if of.share is None:
        return "nothing was graded by both"
    kappa = _NO_FIGURE if of.kappa is None else f"{of.kappa:.2f}"
    told = {name.replace("_", " "): count for name, count in asdict(of).items()}
    return f"{of.share:.0%} of {of.total}, Cohen's kappa {kappa}: {counts(told)}"


def _folds(fold: Mapping[str, Any]) -> str:
    parts = [
        f"{fold['chapters']} chapters", f"{fold['major_folds']} major folds", f"failed tries: {counts(fold['failed'])}",
        f"given up: {fold['given_up']}", f"turns left raw: {fold['turns_left_raw']}", f"forced cuts: {fold['forced_cuts']}",
        f"replies not shown: {fold['turns_not_shown']}", f"memories: {counts(fold['memories'])}",
        f"proposals dropped: {counts(fold['dropped'])}",
    ]  # fmt: skip
    return "; ".join(parts)
