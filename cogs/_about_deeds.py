"""What a person can do about a line that is kept about them, and about being known at all, as buttons."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord

from bot.memory.people import Acquaintance, Note, Trait, TraitStatus
from bot.people import Why
from cogs._about_form import TraitForm
from cogs._lines import Say
from cogs._views import Interaction, Press

Step = Callable[[Interaction], Awaitable[None]]


class Lines(discord.ui.Select[Any]):
    """The menu of the lines on a page."""

    def __init__(
        self, hint: str, lines: Sequence[discord.SelectOption], picked: Callable[[Interaction, str], Awaitable[None]]
    ) -> None:
        super().__init__(placeholder=hint, options=list(lines))
        self._picked = picked

    async def callback(self, interaction: Interaction, /) -> None:  # type: ignore[override]
        """Show the line that was picked."""
        await self._picked(interaction, self.values[0])


def line_buttons(why: Why, say: Say, *, again: Step, back: Step) -> list[Press]:
    """*Edit*, *Delete* and *Restore* where they make sense; ``again`` shows the line anew, ``back`` all lines."""
    kept = why.kept
    deeds = _note_buttons(kept, say, back) if isinstance(kept, Note) else _trait_buttons(kept, say, again)
    return [*deeds, Press(say("about-back"), "↩", back)]


def stop_buttons(who: Acquaintance | None, say: Say, *, back: Step) -> list[Press]:
    """One character, or everywhere, or neither."""
    buttons = [Press(say("about-stop-all"), "🚫", _remember(None, back, remembered=False))]
    if who is not None and who.remembered:
        one = _remember(who.id, back, remembered=False)
        buttons.insert(0, Press(say("about-stop-one", name=who.character_name), "🚪", one))
    return [*buttons, Press(say("about-back"), "↩", back)]


def known_buttons(who: Acquaintance | None, say: Say, *, is_stranger: bool, ask: Step, back: Step) -> list[Press]:
    """*Do not remember me*, which asks first, and what takes it back."""
    if is_stranger:
        return [Press(say("about-again"), "👋", _remember(None, back, remembered=True))]
    buttons = [Press(say("about-stop"), "🚫", ask)]
    if who is not None and not who.remembered:
        buttons.append(Press(say("about-again"), "👋", _remember(who.id, back, remembered=True)))
    return buttons


def _trait_buttons(trait: Trait, say: Say, again: Step) -> list[Press]:
    async def edit(interaction: Interaction) -> None:
        await interaction.response.send_modal(TraitForm(say, trait, again))

    async def take_away(interaction: Interaction) -> None:
        await interaction.response.defer()
        await interaction.client.people.take_away(interaction.user.id, trait.id)
        await again(interaction)

    async def restore(interaction: Interaction) -> None:
        await interaction.response.defer()
        await interaction.client.people.restore(interaction.user.id, trait.id)
        await again(interaction)

    buttons = []
    if trait.status is not TraitStatus.ACTIVE:
        buttons.append(Press(say("about-restore"), "🌱", restore))
    if trait.status is not TraitStatus.FORGOTTEN:
        buttons += [Press(say("button-edit"), "✏", edit), Press(say("about-delete"), "🗑", take_away)]
    return buttons


def _note_buttons(note: Note, say: Say, back: Step) -> list[Press]:
    async def remove(interaction: Interaction) -> None:
        await interaction.response.defer()
        await interaction.client.people.remove_note(interaction.user.id, note.id)
        await back(interaction)

    return [Press(say("about-delete"), "🗑", remove)]


def _remember(acquaintance_id: int | None, back: Step, *, remembered: bool) -> Step:
    async def carry_out(interaction: Interaction) -> None:
        await interaction.response.defer()
        people = interaction.client.people
        carry = people.remember_again if remembered else people.stop_remembering
        await carry(interaction.user.id, acquaintance_id)
        await back(interaction)

    return carry_out
