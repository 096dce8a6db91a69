"""What ``/session info`` says."""

from __future__ import annotations

import discord

from bot.client import KataribeBot
from bot.memory.story import FoldState, Session, SessionFigures


def session_report(bot: KataribeBot, session: Session, figures: SessionFigures, locale: discord.Locale) -> list[str]:
    """One line for each thing that a player or operator may want to know. Sizes are tokens."""
    say = bot.catalogue.text
    trigger = bot.engine.budgets.trigger
    waiting = sum(fold.state in (FoldState.DUE, FoldState.RUNNING) for fold in figures.folds)
    failed = sum(fold.state is FoldState.FAILED for fold in figures.folds)
    lines = [
        say("info-running" if session.running else "info-stopped", locale, number=session.id),
        say("info-turns", locale, turns=figures.turns, raw=figures.raw_turns),
        say("info-memories", locale, memories=figures.memories, chapters=figures.chapters),
        say("info-budget", locale, used=figures.raw_tokens + session.memory_tokens, trigger=trigger),
    ]
    if waiting:
        lines.append(say("info-folds-waiting", locale, folds=waiting))
    if failed:
        lines.append(say("info-folds-failed", locale, folds=failed))
    if session.forced_cuts:
        lines.append(say("info-forced-cuts", locale, cuts=session.forced_cuts))
    lines.append(say("info-model", locale, model=discord.utils.escape_markdown(bot.engine.model_label())))
    return lines
