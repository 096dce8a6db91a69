"""The figures of a living bot: of one story for its moderators, of all stories for the operator. Knows neither Discord nor SQL."""

from __future__ import annotations

from bot.memory.figures import BotFigures, StoryFigures
from bot.store import Store


class Statistics:
    """The one source of the figures, wherever they are shown: nobody's words and nobody's id are in them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def story(self, session_id: int) -> StoryFigures:
        """A story's figures. Raises LookupError."""
        return await self._store.story_figures(session_id)

    async def bot(self) -> BotFigures:
        """The figures of all stories. Their reading takes longer with the number of rows, and holds nobody up."""
        return await self._store.bot_figures()
