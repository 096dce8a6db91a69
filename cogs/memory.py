"""``/memory``: what the story remembers, to read and to put right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import discord
from discord import app_commands
from discord.ext import commands

from bot.client import KataribeBot
from bot.memory.leaves import Leaf
from bot.memory.memories import MemoryKind
from cogs._about_me import AboutMeCommand
from cogs._choices import KINDS, memory_numbers
from cogs._guild_settings import GuildSettingsCommand
from cogs._history import history_pages
from cogs._lines import bound
from cogs._moderating import Moderating
from cogs._pager import Page, Pager
from cogs._pages import memory_page
from cogs._people import channel_id, is_moderator
from cogs._revealing import history_buttons, reveal_memory
from cogs._search import search_pages
from cogs._stats import StatsCommand
from cogs._views import Interaction


class Memories(
    Moderating,
    GuildSettingsCommand,
    StatsCommand,
    AboutMeCommand,
    commands.GroupCog,
    name="memory",
    description="What the story of this channel remembers",
):
    """Read, look behind and correct memories. Everything is shown to the person who asks, and nobody else."""

    @app_commands.command(description="Everything that this story remembers")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.choices(kind=KINDS)
    @app_commands.describe(
        page="The page to open first", number="The memory to open at", kind="Show memories of one kind only"
    )
    async def show(
        self,
        interaction: Interaction,
        page: app_commands.Range[int, 1, 999] = 1,
        number: int | None = None,
        kind: app_commands.Choice[str] | None = None,
    ) -> None:
        """All of it, or one kind, page by page."""
        engine, say = interaction.client.engine, bound(interaction.client.catalogue.text, interaction.locale)
        session = await engine.readable_session(channel_id(interaction))
        chosen = MemoryKind(kind.value) if kind else None
        title = say("memory-title", name=session.character.card.name)

        def shown(leaf: Leaf) -> Page:
            embed = _embed(title, memory_page(leaf, say), leaf.index, leaf.count, footer=say("memory-legend"))
            return Page(embed, leaf.index, leaf.count)

        async def page_at(index: int) -> Page:
            return shown(await engine.leaf(session.id, index, chosen))

        first = shown(await engine.leaf(session.id, page - 1, chosen, number=number))
        await Pager(interaction, first, page_at).open()

    @app_commands.command(description="Where a memory comes from, and every change to it")
    @app_commands.autocomplete(number=memory_numbers)
    @app_commands.describe(
        number="The number of the memory", reveal="Show what is hidden from players instead (moderators)"
    )
    async def history(self, interaction: Interaction, number: int, reveal: bool = False) -> None:
        """Its versions and its evidence."""
        engine, say = interaction.client.engine, bound(interaction.client.catalogue.text, interaction.locale)
        session = await engine.readable_session(channel_id(interaction))
        if reveal:
            await reveal_memory(interaction, session.id, number)
            return
        detail = await engine.detail(session.id, number)
        buttons = history_buttons(session, detail, say) if await is_moderator(interaction) else ()
        pages = history_pages(detail, session, say)
        await _leaf(interaction, say("history-title", number=number), pages, buttons)

    @app_commands.command(description="Find memories and turns by their words")
    @app_commands.describe(words="What to look for")
    async def search(self, interaction: Interaction, words: app_commands.Range[str, 1, 100]) -> None:
        """What every player may read of what fits, the best first."""
        engine, say = interaction.client.engine, bound(interaction.client.catalogue.text, interaction.locale)
        session = await engine.readable_session(channel_id(interaction))
        pages = search_pages(words, await engine.search(session.id, words), session, say)
        await _leaf(interaction, say("search-title"), pages)


async def _leaf(
    interaction: Interaction,
    title: str,
    pages: Sequence[str],
    buttons: Sequence[discord.ui.Button[Any]] = (),
) -> None:
    embeds = [_embed(title, page, place, len(pages)) for place, page in enumerate(pages)]
    await Pager.of(interaction, embeds, buttons).open()


def _embed(title: str, text: str, index: int, count: int, *, footer: str = "") -> discord.Embed:
    embed = discord.Embed(title=title, description=text)
    place = f"{index + 1}/{count}" if count > 1 else ""
    return embed.set_footer(text="\n".join(part for part in (footer, place) if part) or None)


async def setup(bot: KataribeBot) -> None:
    """Called by discord.py."""
    await bot.add_cog(Memories())
