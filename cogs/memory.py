"""``/memory``: what the story remembers, to read and to put right."""

from __future__ import annotations

from collections.abc import Sequence

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.errors import NotAllowed
from bot.memory.corrections import Correction, CorrectionKind
from cogs._corrections import CorrectionForm, carry_out
from cogs._history import history_pages
from cogs._lines import bound, plain_line
from cogs._pages import memory_pages
from cogs._people import channel_id, is_moderator
from cogs._views import Interaction, Pager

_CORRECTIONS = [
    app_commands.Choice(name="It was said, but it is not true", value=CorrectionKind.SAID_NOT_TRUE.value),
    app_commands.Choice(name="Change its text", value=CorrectionKind.EDIT.value),
    app_commands.Choice(name="Take it out", value=CorrectionKind.RETRACT.value),
    app_commands.Choice(name="Undo the last correction", value=CorrectionKind.RESTORE.value),
]


async def memory_numbers(interaction: Interaction, current: str) -> list[app_commands.Choice[int]]:
    """The memories whose number or text fits what was typed, the newest first."""
    engine = interaction.client.engine
    session = await engine.readable_session(channel_id(interaction))
    known = (await engine.memory(session.id)).memories
    wanted = current.strip().lstrip("#").casefold()
    fitting = [
        m for m in reversed(known) if wanted in f"{m.number} {'' if m.content.private else m.content.text}".casefold()
    ]
    exact = [m for m in fitting if str(m.number) == wanted]
    chosen = [*exact, *(m for m in fitting if m not in exact and (m.is_active or m.corrected))]
    return [app_commands.Choice(name=plain_line(m, 100), value=m.number) for m in chosen[:25]]


class Memories(commands.GroupCog, name="memory", description="What the story of this channel remembers"):
    """Read, look behind and correct memories. Everything is shown to the person who asks, and nobody else."""

    @app_commands.command(description="Everything that this story remembers")
    @app_commands.describe(page="The page to open first")
    async def show(self, interaction: Interaction, page: app_commands.Range[int, 1, 999] = 1) -> None:
        """All of it, page by page."""
        engine, say = interaction.client.engine, bound(interaction.client.catalogue.text, interaction.locale)
        session = await engine.readable_session(channel_id(interaction))
        figures = await engine.figures(session.id)
        pages = memory_pages(await engine.memory(session.id), figures.raw_turns, say)
        title = say("memory-title", name=session.character.card.name)
        await _leaf(interaction, title, pages, page - 1, footer=say("memory-legend"))

    @app_commands.command(description="Where a memory comes from, and every change to it")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.describe(number="The number of the memory")
    async def history(self, interaction: Interaction, number: int) -> None:
        """Its versions and its evidence."""
        engine, say = interaction.client.engine, bound(interaction.client.catalogue.text, interaction.locale)
        session = await engine.readable_session(channel_id(interaction))
        detail = await engine.detail(session.id, number)
        await _leaf(interaction, say("history-title", number=number), history_pages(detail, session, say), 0)

    @app_commands.command(description="Put a memory right, for good (moderators)")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.choices(what=_CORRECTIONS)
    @app_commands.describe(
        number="The number of the memory",
        what="What is wrong with it",
        text="The new text, for a change",
        reason="Why; kept in its history",
    )
    async def correct(
        self,
        interaction: Interaction,
        number: int,
        what: app_commands.Choice[str],
        text: app_commands.Range[str, 1, 500] | None = None,
        reason: app_commands.Range[str, 1, 300] | None = None,
    ) -> None:
        """Correct at once, or ask in a form for what is missing."""
        bot, kind = interaction.client, CorrectionKind(what.value)
        if not is_moderator(interaction):
            raise NotAllowed("correction-moderators-only")
        session = await bot.engine.readable_session(channel_id(interaction))
        before = (await bot.engine.detail(session.id, number)).memory
        correction = Correction(kind, interaction.user.id, reason or "", text or "")
        if not reason or (kind is CorrectionKind.EDIT and not text):
            form = CorrectionForm(bot, interaction.locale, session.id, before, correction)
            await interaction.response.send_modal(form)
            return
        await carry_out(interaction, session.id, before, correction)


async def _leaf(interaction: Interaction, title: str, pages: Sequence[str], index: int, *, footer: str = "") -> None:
    embeds = [discord.Embed(title=title, description=page) for page in pages]
    for place, embed in enumerate(embeds, start=1):
        count = f"{place}/{len(pages)}" if len(pages) > 1 else ""
        embed.set_footer(text="\n".join(part for part in (footer, count) if part) or None)
    pager = Pager(interaction, embeds, min(index, len(embeds) - 1))
    if len(pages) > 1:
        await interaction.response.send_message(embed=pager.page, view=pager, ephemeral=True)
    else:
        await interaction.response.send_message(embed=pager.page, ephemeral=True)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Memories())
