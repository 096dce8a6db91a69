"""``kataribe eval audit``: memories against the story that they were made from, by a model as the auditor.

A model finds faults, code drops what it knows better, and each verdict that is left stands in ``audit.md`` beside the lines that it
cites, with a box to tick for whoever checks it: the figures are what a model says, until somebody did.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from bot.charts import COLOURS, figure, png
from bot.errors import KataribeError, ModelTimeout, ModelUnavailable, WindowExceeded, WorkFailed
from bot.evals import auditing
from bot.evals.archives import Told, is_export, load_export, load_session
from bot.evals.auditing import Fault, Verdict, Work
from bot.evals.machinery import ModelAt, ModelGone, kept_model
from bot.evals.playing import play_plainly
from bot.evals.progress import progress
from bot.evals.report import counts, table
from bot.evals.runs import Run, open_run
from bot.evals.stories import Story, load_story
from bot.export import flat
from bot.llm.checks import Rejection, check_form
from bot.llm.client import ModelClient
from bot.llm.drawing import draw
from bot.llm.requests import Completion, ModelRequest, Purpose
from bot.memory.memories import MemoryKind
from bot.memory.policy import LOCAL_WINDOW
from bot.memory.prompt import Card, memory_line
from bot.memory.turns import Citation
from bot.memory.wording import Language
from bot.settings import load_settings

_PICTURE: Final = "audit.png"
_DOCUMENT: Final = "audit.md"
_ANSWER_TOKENS: Final = 1_024
# The longest stretch of a chapter, and what its memories, the schema and errors of counting take besides.
_LONGEST_SOURCE: Final = 20_000
_BESIDES: Final = 1_536
_MOST_LINES: Final = 6
_NAMES: Final = {
    Fault.CLAIM_AS_FACT: "claims stated as fact",
    Fault.STILL_OPEN: "settled, and still open",
    Fault.GUESSED_FEELING: "guessed feelings",
    Fault.NOT_IN_SOURCE: "not in the source",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A beat that is shown beside a verdict."""

    cite: str
    kind: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict as a person can check it: the memory, what is said to be wrong, the cited lines, and its own source."""

    chapter: int | None
    memory: int
    kind: str
    text: str
    fault: str
    reason: str
    cited: tuple[Line, ...]
    source: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """The outcome for one story. ``memories`` are those that were checked; ``unanswered`` counts requests by why they failed."""

    story: str
    chapters: int
    memories: int
    unchecked: int
    settled_by_moderators: int
    open_ends: int
    faults: dict[str, int]
    per_100: dict[str, float]
    dropped: dict[str, int]
    citations_dropped: int
    requests: int
    unanswered: dict[str, int]
    shortened: int
    oddities: dict[str, int]
    findings: tuple[Finding, ...]


async def run(
    *,
    stories: Sequence[Path],
    session: int | None,
    model: str,
    seed: int,
    limit: int | None,
    as_json: bool,
    out: Path | None,
) -> bool:
    """Audit each story and print the figures; True, as a model's verdicts pass nothing and fail nothing.

    Raises StoryUnreadable, ExportUnreadable, ModelGone, and SettingsError when the model of the settings is to audit and none is
    set.
    """
    logging.getLogger("bot").addHandler(logging.NullHandler())  # what is noteworthy is in the figures
    if limit is not None and limit < 1:
        raise KataribeError(f"With a limit of {limit} there is nothing to audit.")
    sources = [load_export(path) if is_export(path) else load_story(path) for path in stories]
    if session is not None:
        sources.append(await load_session(session))
    if not sources:
        raise KataribeError("There is nothing to audit: name a file, or a story of the database with --session.")
    chosen = {"limit": limit, "session": session}
    made = open_run("eval audit", out, settings=chosen, seed=seed, inputs=stories)
    results = []
    async with AsyncExitStack() as stack:
        at, keeper = await stack.enter_async_context(kept_model(model, made, repeat=seed))
        client = await stack.enter_async_context(_client(at))
        await client.probe()
        for source in sources:
            told = source if isinstance(source, Told) else await _played(source, at, limit, made)
            results.append(await audited(told, client, limit))
        made.note(model=client.profile.model, window=client.profile.window)
    made.note(answers=keeper.counts)
    whole = made.save({"stories": [asdict(figures) for figures in results]})
    (made.folder / _DOCUMENT).write_text("\n".join(_as_document(results, made)), encoding="utf-8")
    await asyncio.to_thread(_draw, made, results)
    if as_json:
        print(json.dumps(whole, ensure_ascii=False, indent=1))
    else:
        print("\n\n".join(_as_table(figures, made.record) for figures in results))
        print(f"\nEach verdict with its lines: {made.folder / _DOCUMENT}")
    return True


def _client(at: ModelAt) -> ModelClient:
    return ModelClient(
        at.base_url, api_key=at.api_key, model=at.model, timeout_seconds=load_settings().llm_timeout_seconds
    )


async def _played(story: Story, at: ModelAt, limit: int | None, made: Run) -> Told:
    """A story of the evaluation as the real folder remembers it, with the model that folds; its budgets go on record."""
    with tempfile.TemporaryDirectory() as database, progress(len(story.turns), f"{story.id}: playing") as advance:
        played = await play_plainly(story, at, Path(database), advance, chapters=limit)
    budgets = asdict(played.settings.budgets(None))
    made.note(budgets={**made.record.get("budgets", {}), story.id: budgets})
    turns = tuple(played.turns[seq] for seq in sorted(played.turns))
    failed = {f"folds failed ({code})": count for code, count in played.failed.items()}
    return Told(story.id, Card(story.cards[0].name, story.cards[0].description), turns, played.memory, failed)


async def audited(told: Told, client: ModelClient, limit: int | None = None) -> Figures:
    """Ask the model about all memories of a story, or of its first ``limit`` chapters, and count what holds. Raises ModelGone."""
    works = auditing.works_of(told, limit)
    faults: dict[tuple[int, Fault], Verdict] = {}
    dropped: Counter[str] = Counter()
    unanswered: Counter[str] = Counter()
    uncited = shortened = 0
    checked: set[int] = set()
    language = told.language
    with progress(len(works), f"{told.name}: auditing") as advance:
        for work in works:
            try:
                if not work.turns:
                    raise WorkFailed("no-source-left")
                asked, value = await _asked(client, work, language, _room(client.profile.window or LOCAL_WINDOW))
            except (WorkFailed, WindowExceeded, ModelTimeout) as error:
                unanswered[error.code] += 1
            except ModelUnavailable as error:
                raise ModelGone(error) from error
            else:
                judged = auditing.judged(asked, value)
                for verdict in judged.verdicts:
                    faults.setdefault((verdict.memory.number, verdict.fault), verdict)
                dropped.update(judged.dropped)
                uncited += judged.uncited
                shortened += asked.shortened
                checked.update(() if work.later else (m.number for m in work.memories))
            advance(1)
    everything = {m.number: m for work in works for m in work.memories}
    by_fault = Counter(fault for _, fault in faults)
    return Figures(
        story=told.name,
        chapters=len(told.memory.chapters[:limit]),
        memories=len(checked),
        unchecked=len(everything) - len(checked),
        settled_by_moderators=sum(m.corrected for m in told.memory.memories),
        open_ends=sum(everything[n].kind is MemoryKind.LOOSE_END and everything[n].is_active for n in checked),
        faults={fault.value: by_fault[fault] for fault in Fault},
        per_100={fault.value: round(100 * by_fault[fault] / max(1, len(checked)), 1) for fault in Fault},
        dropped=dict(dropped.most_common()),
        citations_dropped=uncited,
        requests=len(works),
        unanswered=dict(unanswered.most_common()),
        shortened=shortened,
        oddities=dict(told.oddities),
        findings=tuple(_finding(told, faults[key]) for key in sorted(faults)),
    )


def _room(window: int) -> int:
    """The tokens that turns may take in a request."""
    return min(_LONGEST_SOURCE, window - min(_ANSWER_TOKENS, window // 4) - _BESIDES)


async def _asked(client: ModelClient, work: Work, language: Language, room: int, tries: int = 3) -> tuple[Work, object]:
    """The parsed answer, and the work as it was asked.

    Tokens are estimated; where the server counts more than its window, it is asked again with half of the turns. Raises WorkFailed
    and ModelUnavailable.
    """
    asked = auditing.fitted(work, room)
    request = ModelRequest(
        auditing.messages_of(asked, language),
        Purpose.AUDIT,
        max_tokens=min(_ANSWER_TOKENS, (client.profile.window or LOCAL_WINDOW) // 4),
        schema=auditing.schema_of(asked),
        schema_name="eval_audit",
        temperature=0.0,
    )
    try:
        return asked, await draw(client, request, _form)
    except WindowExceeded:
        if tries == 1:
            raise
    return await _asked(client, work, language, room // 2, tries - 1)


def _form(completion: Completion, value: object) -> Rejection | None:
    return check_form(completion.text, completion.finish_reason, auditing.is_answer(value))


def _finding(told: Told, verdict: Verdict) -> Finding:
    memory = verdict.memory
    return Finding(
        verdict.chapter, memory.number, memory.kind.value, memory_line(memory, told.language), verdict.fault.value,
        verdict.reason, _lines(told, verdict.cites), _lines(told, verdict.origins[:_MOST_LINES]),
    )  # fmt: skip


def _lines(told: Told, cites: Iterable[Citation]) -> tuple[Line, ...]:
    turns = {turn.seq: turn for turn in told.turns}
    return tuple(
        Line(str(cite), "player" if turn.author.is_player else beat.kind.value, beat.speaker, beat.text)
        for cite in cites
        if (turn := turns.get(cite.seq)) and (beat := turn.beat(cite))
    )


def _as_table(figures: Figures, record: Mapping[str, Any]) -> str:
    def fault(which: Fault) -> str:
        count = f"{figures.faults[which]} ({figures.per_100[which]} per 100)"
        return f"{count}, of {figures.open_ends} open ends" if which is Fault.STILL_OPEN else count

    rows = [
        ("chapters", str(figures.chapters)),
        ("memories checked", str(figures.memories)),
        ("  not checked, as no answer could be used", str(figures.unchecked)),
        ("  not checked, as moderators settled them", str(figures.settled_by_moderators)),
        *((name, fault(which)) for which, name in _NAMES.items()),
        ("verdicts dropped", counts(figures.dropped)),
        ("citations of nothing", str(figures.citations_dropped)),
        ("requests", f"{figures.requests}, {figures.shortened} with the likeliest turns only"),
        ("  no usable answer", counts(figures.unanswered)),
        ("odd in the story", counts(figures.oddities)),
    ]
    return table(f"{figures.story}: auditor {record['model']}, seed {record['seed']}", rows)


def _as_document(results: Sequence[Figures], made: Run) -> Iterator[str]:
    yield "# Audit"
    yield ""
    yield (
        f"By {made.record['model']}, seed {made.record['seed']}, Kataribe {made.record['version']} ({made.record['code']}). "
        "A model found these faults; tick what you find to be so."
    )
    for figures in results:
        yield from ("", f"## {flat(figures.story)}", "", "```", _as_table(figures, made.record), "```")
        for finding in figures.findings:
            where = "synopsis" if finding.chapter is None else f"chapter {finding.chapter}"
            yield ""
            yield f"- [ ] **{_NAMES[Fault(finding.fault)]}**, #{finding.memory} ({where}, {finding.kind}): {flat(finding.text)}"
            yield f"  - reason: {flat(finding.reason) or 'none given'}"
            for name, lines in (("cited", finding.cited), ("its own source", finding.source)):
                yield f"  - {name}:"
                yield from (f"    - {line.cite} {line.kind} {flat(line.speaker)}: {flat(line.text)}" for line in lines)
    yield ""


def _draw(made: Run, results: Sequence[Figures]) -> None:
    """Faults per 100 memories, a group of bars for each kind and a bar for each story."""
    picture = figure(8, 4.5)
    axes = picture.subplots()
    width = 0.8 / len(results)
    for place, figures in enumerate(results):
        left = [x - 0.4 + (place + 0.5) * width for x in range(len(_NAMES))]
        heights = [figures.per_100[fault.value] for fault in _NAMES]
        label = f"{figures.story} ({figures.memories} memories)"
        bars = axes.bar(left, heights, width, color=COLOURS[place % len(COLOURS)], label=label)
        axes.bar_label(bars, fmt="%g")
    axes.set_xticks(range(len(_NAMES)), list(_NAMES.values()))
    axes.set_ylabel("per 100 memories")
    axes.set_title(f"Faults that {made.record['model']} finds")
    axes.legend()
    made.picture(_PICTURE).write_bytes(png(picture))
