"""The tellings of a reply: ◀ 2/3 ▶ below it, which lead from one to the other."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import discord

from bot.client import KataribeBot
from bot.errors import Refused, UserError
from bot.rewinding import Told
from cogs._people import require_age_restriction, require_scene
from cogs._retold import say_otherwise, show_view
from cogs._voice import REFUSALS


async def tell(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, turn_id: int, number: int | None = None, *, by: int
) -> None:
    """Let a reply be told anew, or as it was told before under a number, with buttons to the others. Raises UserError."""
    with bot.working():
        async with bot.lock("answer", (await bot.rewinding.turn(turn_id)).session.id):
            told = await bot.rewinding.turn(turn_id)
            if not told.session.running:
                raise Refused("retell-paused")
            require_age_restriction(channel, told.session)
            if number is None or number > len(told.tellings):
                bot.manners.spend(told.session, by)
            before = await bot.engine.messages_of(turn_id)
            try:
                await say_otherwise(bot, channel, turn_id, number)
            except UserError:
                if await bot.engine.messages_of(turn_id) != before:
                    await show_buttons(bot, channel, turn_id)
                raise
            await show_buttons(bot, channel, turn_id, before)


async def show_buttons(
    bot: KataribeBot, channel: discord.abc.MessageableChannel, turn_id: int, before: Sequence[int] = ()
) -> None:
    """Put the buttons of a reply that was told more than once below its last message; those of ``before`` lose theirs."""
    told = await bot.rewinding.turn(turn_id)
    ids = await bot.engine.messages_of(turn_id)
    for message_id in set(before[-1:]).intersection(ids[:-1]):
        await show_view(bot, channel, told, message_id, None)
    for message_id in ids[-1:] if len(told.tellings) > 1 else ():
        await show_view(bot, channel, told, message_id, _buttons(told))


def _buttons(told: Told) -> discord.ui.View:
    # Never in a view with a timeout: when one ends, discord.py forgets the persistent items of all others too.
    view = discord.ui.View(timeout=None)
    count, turn_id = len(told.tellings), told.turn.id
    here = discord.ui.Button[discord.ui.View](
        label=f"{told.number}/{count}", disabled=True, custom_id=f"tellings:{turn_id}"
    )
    view.add_item(TellingButton(turn_id, told.number - 1, "◀", disabled=told.number == 1))
    view.add_item(here)
    view.add_item(TellingButton(turn_id, told.number + 1, "▶" if told.number < count else "🔁"))
    return view


class TellingButton(
    discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"telling:(?P<turn>[0-9]{1,18}):(?P<number>[0-9]{1,6})"
):
    """A telling of a reply by its number; the one behind the last is written now. For players of the scene and moderators."""

    def __init__(self, turn_id: int, number: int, emoji: str | None = None, *, disabled: bool = False) -> None:
        custom_id = f"telling:{turn_id}:{number}"
        super().__init__(discord.ui.Button(emoji=emoji, disabled=disabled, custom_id=custom_id))
        self._turn_id, self._number = turn_id, number

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> TellingButton:
        """The button of a message that another process may have sent."""
        return cls(int(match["turn"]), int(match["number"]))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Errors here reach no handler of discord.py's: they are answered here."""
        bot: KataribeBot = interaction.client
        try:
            told = await bot.rewinding.turn(self._turn_id)
            await require_scene(interaction, told.session)
            await interaction.response.defer()
            channel = await bot.channel(told.session.place.channel_id)
            if channel is not None:
                await tell(bot, channel, self._turn_id, self._number, by=interaction.user.id)
        except Exception as error:  # noqa: BLE001 - explained to the person, and logged where that is done
            if isinstance(error, Refused) and error.code == "retell-not-newest":
                with contextlib.suppress(*REFUSALS):  # nothing can be chosen here any more
                    await interaction.edit_original_response(view=None)
            await bot.answer_error(interaction, error)
