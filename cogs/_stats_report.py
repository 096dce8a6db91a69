"""What ``/memory stats`` says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import discord

from bot.catalogue import Catalogue
from bot.memory.figures import Figures, StoryFigures
from bot.memory.moderation import FlagState
from bot.memory.story import FoldKind, FoldState, Session
from cogs._lines import SIGNS, Say, bound
from cogs._stats_numbers import listed, number, spread

_REPLY = "reply"
# https://discord.com/developers/docs/resources/message#embed-object-embed-limits
_LONGEST = 1024


def stats_embed(story: StoryFigures, session: Session, catalogue: Catalogue, locale: discord.Locale) -> discord.Embed:
    """The figures, one field for each thing that a moderator may want to know; what there is nothing to say of is left out."""
    say = bound(catalogue.text, locale)
    name = discord.utils.escape_markdown(session.character.card.name)
    embed = discord.Embed(title=say("stats-title", name=name))
    for code, lines in _fields(story, catalogue, say):
        if lines:
            embed.add_field(name=say(code), value="\n".join(lines)[:_LONGEST], inline=False)
    return embed


def _fields(story: StoryFigures, catalogue: Catalogue, say: Say) -> Iterator[tuple[str, list[str]]]:
    figures = story.figures
    yield "stats-story", _story(figures, say)
    yield "stats-memory", _memory(story, say)
    yield "stats-folds", _folds(figures, say)
    yield "stats-replies", _times(figures, say)
    yield "stats-reuse", _reuse(figures, say)
    yield "stats-tokens", _tokens(figures, say)
    yield "stats-unusable", _codes(figures.rejected, catalogue, say)
    yield "stats-unanswered", _codes(figures.unanswered, catalogue, say)
    yield "stats-forced-cuts", [f"{figures.forced_cuts:,}"]
    yield "stats-corrections", _corrections(figures, say)


def _story(figures: Figures, say: Say) -> list[str]:
    lines = [say("stats-turns", turns=figures.turns, replies=figures.replies)]
    if figures.chapter_turns:
        median, largest = number(figures.chapter_turns.median), number(figures.chapter_turns.largest)
        lines.append(say("stats-chapters", chapters=figures.chapters, median=median, largest=largest))
    return lines


def _memory(story: StoryFigures, say: Say) -> list[str]:
    kinds = "  ".join(
        f"{sign} {story.figures.lines[kind]:,}" for kind, sign in SIGNS.items() if kind in story.figures.lines
    )
    head = say("stats-head", tokens=story.head_tokens, characters=story.head_characters)
    return [head, kinds] if kinds else [head]


def _folds(figures: Figures, say: Say) -> list[str]:
    lines = []
    for kind in FoldKind:
        states = figures.folds.get(kind)
        if states:
            waiting = states.get(FoldState.DUE, 0) + states.get(FoldState.RUNNING, 0)
            done, failed = states.get(FoldState.DONE, 0), states.get(FoldState.FAILED, 0)
            line = say("stats-fold", kind=say(f"stats-kind-{kind}"), done=done, open=waiting, failed=failed)
            taken = figures.fold_seconds.get(kind)
            lines.append(f"{line} · {spread(taken, say)}" if taken else line)
    if figures.tries_in_vain:
        lines.append(say("stats-vain", tries=figures.tries_in_vain))
    return lines


def _times(figures: Figures, say: Say) -> list[str]:
    spreads = {"stats-answering": figures.answer_seconds, "stats-waiting": figures.wait_seconds}
    return [say(code, spread=spread(of[_REPLY], say)) for code, of in spreads.items() if _REPLY in of]


def _reuse(figures: Figures, say: Say) -> list[str]:
    if _REPLY not in figures.answer_seconds:
        return []
    of_all, ordinary = figures.reuse.share, figures.ordinary.share
    if of_all is None:
        return [say("stats-share-unknown")]
    lines = [say("stats-share", all=f"{of_all * 100:.1f}")]
    return lines if ordinary is None else [*lines, say("stats-share-ordinary", ordinary=f"{ordinary * 100:.1f}")]


def _tokens(figures: Figures, say: Say) -> list[str]:
    spent: dict[str, int] = {}
    for cost in figures.costs:
        spent[cost.purpose] = spent.get(cost.purpose, 0) + cost.computed + cost.written
    return [listed({say(f"stats-purpose-{name}"): tokens for name, tokens in spent.items()})] if spent else []


def _codes(counted: Mapping[str, Mapping[str, int]], catalogue: Catalogue, say: Say) -> list[str]:
    """A line for each purpose, with what went wrong how often; a code without words is shown as it is."""

    def words(code: str) -> str:
        key = f"stats-code-{code}"
        return say(key) if key in catalogue else code

    return [
        say(
            "stats-of",
            what=say(f"stats-purpose-{purpose}"),
            counts=listed({words(code): n for code, n in codes.items()}),
        )
        for purpose, codes in counted.items()
    ]


def _corrections(figures: Figures, say: Say) -> list[str]:
    waiting = figures.reports.get(FlagState.OPEN, 0)
    decided = sum(figures.reports.values()) - waiting
    lines = [say("stats-corrected", count=figures.corrections, undone=figures.undone)]
    return [*lines, say("stats-reports", open=waiting, decided=decided)] if waiting + decided else lines
