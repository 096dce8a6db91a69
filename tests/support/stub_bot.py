"""A tiny bot with one of everything that the demo's page has to carry: webhook replies, paging, a modal, autocomplete.

As ``python -m tests.support.stub_bot --api … --gateway … --cdn …`` it runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys

import discord
from discord import app_commands

from bot.demo.child import run_pointed

FACTS = [f"{number}. Fact number {number}." for number in range(1, 8)]
PAGE = 3


class Paging(discord.ui.View):
    """Facts, three at a time."""

    def __init__(self) -> None:
        super().__init__(timeout=600)
        self.page = 0

    def text(self) -> str:
        return "\n".join(FACTS[self.page * PAGE : (self.page + 1) * PAGE])

    @discord.ui.button(label="Next")
    async def further(self, interaction: discord.Interaction, _: discord.ui.Button[Paging]) -> None:
        self.page += 1
        await interaction.response.edit_message(content=self.text(), view=self)

    @discord.ui.button(label="Correct")
    async def correct(self, interaction: discord.Interaction, _: discord.ui.Button[Paging]) -> None:
        await interaction.response.send_modal(Correction())


class Correction(discord.ui.Modal, title="Correct a fact"):
    """One line to correct."""

    text: discord.ui.TextInput[Correction] = discord.ui.TextInput(label="What is true", style=discord.TextStyle.long)

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Corrected: {self.text.value}", ephemeral=True)


class Again(discord.ui.View):
    """A button under a webhook's message."""

    def __init__(self) -> None:
        super().__init__(timeout=None)

    @discord.ui.button(label="Again", custom_id="again")
    async def again(self, interaction: discord.Interaction, _: discord.ui.Button[Again]) -> None:
        await interaction.response.send_message("again it is", ephemeral=True)


class StubBot(discord.Client):
    """Answers every player after ``thinks`` seconds, through a webhook of its own."""

    def __init__(self, *, thinks: float = 0.0) -> None:
        super().__init__(intents=discord.Intents.all(), allowed_mentions=discord.AllowedMentions.none())
        self.thinks = thinks
        self.tree = app_commands.CommandTree(self)
        self.tree.add_command(memory)
        self.tree.add_command(slow)

    async def setup_hook(self) -> None:
        self.add_view(Again())
        await self.tree.sync()

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot or not isinstance(message.channel, (discord.TextChannel, discord.Thread)):
            return
        home = message.channel.parent if isinstance(message.channel, discord.Thread) else message.channel
        assert isinstance(home, discord.TextChannel)
        async with message.channel.typing():
            await asyncio.sleep(self.thinks)
        hook = next((each for each in await home.webhooks() if each.user == self.user), None)
        hook = hook or await home.create_webhook(name="stub")
        thread = message.channel if isinstance(message.channel, discord.Thread) else discord.utils.MISSING
        text = f"You said “{message.content}”."
        sent = await hook.send(text, username="Dorrit", wait=True, thread=thread, view=Again())
        await hook.edit_message(sent.id, content=f"{text} I heard it.", thread=thread)


memory = app_commands.Group(name="memory", description="What is remembered")


@memory.command(name="show", description="Show the facts")
async def show(interaction: discord.Interaction) -> None:
    view = Paging()
    await interaction.response.send_message(view.text(), view=view, ephemeral=True)


@memory.command(name="fix", description="Correct one fact")
async def fix(interaction: discord.Interaction, fact: str) -> None:
    await interaction.response.send_message(f"fixing {fact}", ephemeral=True)


@fix.autocomplete("fact")
async def facts(_: discord.Interaction, current: str) -> list[app_commands.Choice[str]]:
    return [app_commands.Choice(name=fact, value=fact) for fact in FACTS if current in fact][:25]


@app_commands.command(description="Takes its time")
async def slow(interaction: discord.Interaction, seconds: float) -> None:
    await interaction.response.defer(ephemeral=True, thinking=True)
    await asyncio.sleep(seconds)
    await interaction.followup.send("slow done", ephemeral=True)


def run_stub() -> int:
    """Run the stub until it is told to stop."""
    logging.basicConfig(level=logging.INFO)
    logging.getLogger(__name__).info("process %s", os.getpid())
    bot = StubBot(thinks=float(os.environ.get("STUB_THINKS", "0")))
    bot.run(os.environ["DISCORD_TOKEN"], log_handler=None)
    return 0


if __name__ == "__main__":
    sys.exit(run_pointed(sys.argv[1:], run_stub))
