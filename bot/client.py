"""The Discord client: intents, no mentions, the cogs, and what becomes of errors."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakValueDictionary

import discord
from discord import app_commands
from discord.ext import commands

from bot.catalogue import Catalogue
from bot.characters import Characters
from bot.engine import Engine, Recovery
from bot.errors import UserError
from bot.manners import Manners, Wait
from bot.memory.story import Fold
from bot.memory.wording import Language
from bot.moderation import Moderation
from bot.people import People
from bot.personas import Personas
from bot.privacy import Privacy
from bot.rewinding import Rewinding
from bot.statistics import Statistics
from bot.translator import CommandTranslator

log = logging.getLogger(__name__)

COGS: Final = (
    "cogs.characters",
    "cogs.memory",
    "cogs.moderation",
    "cogs.personas",
    "cogs.pictures",
    "cogs.play",
    "cogs.privacy",
    "cogs.recovery",
    "cogs.retelling",
    "cogs.sessions",
    "cogs.upkeep",
)
# A response to an interaction that has gone, or was answered already
# (https://discord.com/developers/docs/topics/opcodes-and-status-codes#json).
_TOO_LATE: Final = frozenset({10015, 10062, 40060})


class KataribeBot(commands.Bot):
    """The bot as Discord sees it.

    What it holds beside the engine concerns this process alone: ``webhooks`` by channel, the channels that were ``hinted``
    at a missing permission, how many ``failures`` each session had and the ``notices`` that say so, the ``alarms`` of
    sessions whose answer waits for its time, how many ``streams`` run through each channel's webhook, the ``languages`` that
    guilds chose, which message of each session has the ``controls``, what ``recovery`` found at the start, and the folds that
    were ``given_up`` and which no moderator was told of yet.
    """

    def __init__(
        self,
        engine: Engine,
        moderation: Moderation,
        people: People,
        privacy: Privacy,
        catalogue: Catalogue,
        *,
        characters: Characters,
        rewinding: Rewinding,
        personas: Personas,
        manners: Manners,
        statistics: Statistics,
        cogs: Sequence[str] = COGS,
        stream_replies: bool = False,
        reply_reactions: bool = False,
    ) -> None:
        super().__init__(
            command_prefix=commands.when_mentioned,
            help_command=None,
            intents=_intents(),
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
            allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        )
        self.engine = engine
        self.moderation = moderation
        self.people = people
        self.privacy = privacy
        self.characters = characters
        self.rewinding = rewinding
        self.personas = personas
        self.manners = manners
        self.statistics = statistics
        self.catalogue = catalogue
        self.webhooks: dict[int, discord.Webhook] = {}
        self.hinted: set[int] = set()
        self.failures: Counter[int] = Counter()
        self.notices: dict[int, discord.Message] = {}
        self.alarms: dict[int, tuple[Wait, asyncio.Task[None]]] = {}
        self.stream_replies = stream_replies
        self.reply_reactions = reply_reactions
        self.controls: dict[int, int] = {}
        self.streams: Counter[int] = Counter()
        self.languages: dict[int, Language] = {}
        self.recovery: Recovery | None = None
        self.given_up: list[Fold] = []
        self._extensions_to_load = tuple(cogs)
        self._locks: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()
        self._working: set[asyncio.Task[Any]] = set()
        self.tree.error(self._on_tree_error)

    @property
    def id(self) -> int:
        """Our own id as a user. Known once we are logged in, before any message can arrive."""
        return self.user.id if self.user else 0

    async def setup_hook(self) -> None:
        """Look what the last process left before any message can arrive, load the cogs and publish the commands."""
        self.recovery = await self.engine.recover()
        self.languages = await self.moderation.languages()
        for name in self._extensions_to_load:
            await self.load_extension(name)
        await self.tree.set_translator(CommandTranslator(self.catalogue))
        try:
            await self.tree.sync()
        except discord.HTTPException:
            log.exception("the commands could not be published; those that Discord knows already still work")

    async def on_ready(self) -> None:
        """Comes again after every lost connection."""
        log.info("connected as %s, in %d guilds", self.user, len(self.guilds))

    async def fold_given_up(self, fold: Fold) -> None:
        """A fold failed for good: a cog tells the moderators, at the latest when Discord is connected."""
        self.given_up.append(fold)
        if self.is_ready():
            self.dispatch("fold_given_up")

    async def on_message(self, message: discord.Message, /) -> None:
        """There are no commands by prefix: a mention at the head of a line is story."""

    async def close(self) -> None:
        """Let go of replies that are being written, then disconnect."""
        working = self._working - {asyncio.current_task()}
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
        await super().close()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Within it the current task does work that :meth:`close` ends and waits for."""
        task = asyncio.current_task()
        if task is None or task in self._working:
            yield
            return
        self._working.add(task)
        try:
            yield
        finally:
            self._working.discard(task)

    def lock(self, purpose: str, key: int) -> asyncio.Lock:
        """The lock of a channel or session for one purpose; it lives as long as somebody holds or awaits it."""
        return self._locks.setdefault((purpose, key), asyncio.Lock())

    async def channel(self, channel_id: int) -> discord.abc.MessageableChannel | None:
        """A channel, thread or direct message by id; None when it is gone or closed to us."""
        found = self.get_channel(channel_id)
        if found is None:
            try:
                found = await self.fetch_channel(channel_id)
            except (discord.NotFound, discord.Forbidden):
                return None
        return found if isinstance(found, discord.abc.Messageable) else None

    def locale_of(self, channel: object) -> object:
        """The locale for what a whole channel reads: the language that its guild chose, else a community's own.

        Discord reports American English for every guild that is no community, whatever is spoken there: those get the
        operator's default, as direct messages do.
        """
        guild = getattr(channel, "guild", None)
        if guild is None:
            return None
        return self.languages.get(guild.id) or (guild.preferred_locale if "COMMUNITY" in guild.features else None)

    def explain(self, error: Exception, locale: object) -> str:
        """What a person is told about an error. One that nobody foresaw is logged under the reference that they read."""
        cause = error.original if isinstance(error, app_commands.CommandInvokeError) else error
        if isinstance(cause, UserError) and cause.code in self.catalogue:
            log.info("told a person: %s %s", cause.code, getattr(cause, "detail", ""))
            return self.catalogue.text(cause.code, locale, **cause.fields)
        reference = secrets.token_hex(4)
        log.error("reference %s", reference, exc_info=cause)
        return self.catalogue.text("error-unexpected", locale, reference=reference)

    async def answer_error(self, interaction: discord.Interaction, error: Exception) -> None:
        """Tell the person who used a command, button or form what went wrong, and nobody else."""
        text = self.explain(error, interaction.locale)
        try:
            if interaction.response.is_done():
                await interaction.followup.send(text, ephemeral=True)
            else:
                await interaction.response.send_message(text, ephemeral=True)
        except discord.HTTPException as refusal:
            level = logging.INFO if refusal.code in _TOO_LATE else logging.WARNING
            log.log(level, "an error could not be explained: %s", refusal)

    async def _on_tree_error(
        self, interaction: discord.Interaction[KataribeBot], error: app_commands.AppCommandError
    ) -> None:
        await self.answer_error(interaction, error)


def _intents() -> discord.Intents:
    intents = discord.Intents.none()
    intents.guilds = True
    intents.guild_messages = True
    intents.dm_messages = True
    intents.message_content = True
    intents.guild_reactions = True
    intents.dm_reactions = True
    return intents
