"""The use cases of those who watch over the memories: guild settings, corrections and their undoing, players' reports.

Built on the engine; knows neither Discord nor SQL.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bot.engine import Engine
from bot.errors import NotFound, Refused
from bot.memory import corrections
from bot.memory.corrections import Correction, CorrectionError, CorrectionKind
from bot.memory.memories import Memory, MemoryKind, MemoryStatus
from bot.memory.moderation import Flag, GuildSettings
from bot.memory.story import MemoryDetail, Session
from bot.memory.turns import BeatKind, TurnState
from bot.memory.wording import Language
from bot.store import Store
from bot.time_zones import zone_name

log = logging.getLogger(__name__)

_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A correction that was carried out: the memory as it was, and with all that is on record about it now."""

    session: Session
    correction: Correction
    before: Memory
    detail: MemoryDetail

    @property
    def after(self) -> Memory:
        """The memory as it is now."""
        return self.detail.memory


@dataclass(frozen=True, slots=True)
class Report:
    """A player's report with the memory that it is about."""

    flag: Flag
    session: Session
    detail: MemoryDetail


class Moderation:
    """Every use case, one method each. ``flags_per_hour`` is how often one player may report within an hour."""

    def __init__(self, store: Store, engine: Engine, *, flags_per_hour: int, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._engine = engine
        self._flags_per_hour = flags_per_hour
        self._clock = clock

    # Settings

    async def settings(self, guild_id: int) -> GuildSettings:
        """What a guild set."""
        return await self._store.guild_settings(guild_id)

    async def set_moderator_role(self, guild_id: int, role_id: int | None) -> GuildSettings:
        """Make the members of a role moderators, or with None nobody beside those who have the permission."""
        return await self._save(replace(await self.settings(guild_id), moderator_role_id=role_id))

    async def set_log_channel(self, guild_id: int, channel_id: int | None) -> GuildSettings:
        """Post corrections and reports into a channel, or with None nowhere."""
        return await self._save(replace(await self.settings(guild_id), log_channel_id=channel_id))

    async def set_time_zone(self, guild_id: int, name: str | None) -> GuildSettings:
        """Hold a guild's mornings by a time zone, or with None by the operator's. Raises Refused for an unknown name."""
        zone = zone_name(name) if name is not None else None
        if name is not None and zone is None:
            raise Refused("settings-time-zone-unknown", name=name)
        return await self._save(replace(await self.settings(guild_id), time_zone=zone))

    async def set_language(self, guild_id: int, language: Language | None) -> GuildSettings:
        """Speak to a guild's channels in a language, or with None in the one that Discord reports."""
        return await self._save(replace(await self.settings(guild_id), language=language))

    async def languages(self) -> dict[int, Language]:
        """The languages that guilds chose, by guild."""
        return await self._store.guild_languages()

    async def is_moderator_role(self, guild_id: int, role_ids: Collection[int]) -> bool:
        """Whether one of the roles is the guild's moderator role."""
        return (await self.settings(guild_id)).moderator_role_id in role_ids

    async def log_channel(self, session_id: int) -> int | None:
        """Where corrections of a story are posted; None where no channel was set, and for direct messages."""
        guild_id = (await self._engine.session(session_id)).place.guild_id
        return None if guild_id is None else (await self.settings(guild_id)).log_channel_id

    # Corrections

    async def correct(
        self, session_id: int, correction: Correction, number: int, *, flag_id: int | None = None
    ) -> Corrected:
        """Carry out a moderator's correction, and settle the report ``flag_id`` with it; the next reply's prompt has it.

        Raises NotFound, and Refused when it makes no sense, or somebody else changed the memory, or settled the report, at
        the same moment or before.
        """
        if flag_id is not None:
            await self._open_flag(flag_id)
        detail = await self._engine.detail(session_id, number)
        try:
            return await self._correct(session_id, correction, detail, flag_id)
        except Refused:
            if flag_id is not None:
                await self._open_flag(flag_id)
            raise

    async def undo(self, session_id: int, number: int, version: int, *, by: int) -> Corrected:
        """Take back the correction that made ``version`` of a memory.

        Raises NotFound, and Refused when a moderator changed the memory since: that would undo another correction.
        """
        detail = await self._engine.detail(session_id, number)
        if newest_correction(detail) != version:
            raise Refused("undo-too-late", number=number)
        return await self._correct(session_id, Correction(CorrectionKind.RESTORE, by, reason=""), detail, None)

    async def reveal(self, session_id: int, number: int, *, by: int) -> Memory:
        """A memory whose hidden side a moderator may now read; that one did is logged, and who for debugging only.

        Raises NotFound, and Refused when nothing of it is hidden.
        """
        memory = (await self._engine.detail(session_id, number)).memory
        if not has_hidden_side(memory):
            raise Refused("reveal-nothing", number=number)
        log.info("session %d memory %d: what is hidden was revealed to a moderator", session_id, number)
        log.debug("session %d memory %d: revealed to %d", session_id, number, by)
        return memory

    # Reports

    async def flag(self, session_id: int, number: int, *, by: int, why: str) -> Report:
        """Write down that a player holds a memory to be wrong.

        Raises NotFound, and Refused when the memory is not in use or the player reported too often within the hour.
        """
        detail = await self._engine.detail(session_id, number)
        if not detail.memory.is_active:
            raise Refused("flag-not-in-use", number=number)
        now = self._clock()
        flag = await self._store.add_flag(
            session_id, number, by=by, why=" ".join(why.split()), at=now, since=now - _HOUR, most=self._flags_per_hour
        )
        if flag is None:
            raise Refused("flag-limit", most=self._flags_per_hour)
        log.info("session %d memory %d: flagged as %d", session_id, number, flag.id)
        return Report(flag, await self._engine.session(session_id), detail)

    async def report(self, flag_id: int) -> Report:
        """A report as it stands now. Raises NotFound."""
        flag = await self._store.flag(flag_id)
        if flag is None:
            raise NotFound("flag-unknown")
        detail = await self._engine.detail(flag.session_id, flag.number)
        return Report(flag, await self._engine.session(flag.session_id), detail)

    async def open_reports(self, guild_id: int) -> tuple[Report, ...]:
        """The reports of a guild that wait for a moderator, oldest first."""
        return tuple([await self.report(flag.id) for flag in await self._store.open_flags(guild_id=guild_id)])

    async def dismiss(self, flag_id: int, *, by: int) -> None:
        """Decide that a reported memory stays as it is. Raises NotFound, and Refused when somebody decided before."""
        if not await self._store.dismiss_flag(flag_id, by=by, at=self._clock()):
            await self._open_flag(flag_id)
        log.info("flag %d dismissed", flag_id)

    async def _correct(
        self, session_id: int, correction: Correction, detail: MemoryDetail, flag_id: int | None
    ) -> Corrected:
        before, session = detail.memory, await self._engine.session(session_id)
        if before.status is MemoryStatus.ASIDE or any(turn.state is TurnState.ASIDE for turn, _ in detail.turns):
            raise Refused("rewind-memory-aside", number=before.number)
        try:
            changed = corrections.corrected(
                before, correction, speaker=_speaker(detail, session), history=detail.history
            )
        except CorrectionError as error:
            raise Refused(error.code, number=error.number) from error
        saved = await self._store.save_correction(
            session_id,
            before.version,
            changed,
            by=str(correction.moderator_id),
            reason=correction.reason,
            at=self._clock(),
            render=self._engine.render(session),
            answers=None if flag_id is None else (flag_id, correction.kind),
        )
        if not saved:
            raise Refused("correction-conflict", number=before.number)
        log.info("session %d memory %d: %s by a moderator", session_id, before.number, correction.kind)
        return Corrected(session, correction, before, await self._engine.detail(session_id, before.number))

    async def _open_flag(self, flag_id: int) -> Flag:
        flag = await self._store.flag(flag_id)
        if flag is None:
            raise NotFound("flag-unknown")
        if not flag.is_open:
            raise Refused("flag-decided", by=f"<@{flag.decided_by}>") if flag.decided_by else Refused("flag-settled")
        return flag

    async def _save(self, settings: GuildSettings) -> GuildSettings:
        await self._store.save_guild_settings(settings)
        log.info(
            "guild %d: moderator role %s, log channel %s, time zone %s",
            settings.guild_id, settings.moderator_role_id, settings.log_channel_id, settings.time_zone,
        )  # fmt: skip
        return settings


def newest_correction(detail: MemoryDetail) -> int | None:
    """The version that a moderator made last; None when none ever did."""
    return max((version.version for version in detail.history if version.by.isdigit()), default=None)


def has_hidden_side(memory: Memory) -> bool:
    """Whether there is more to a memory than players see: a secret's actual side, or a thought."""
    is_hidden = memory.content.private or (memory.kind is MemoryKind.SECRET and bool(memory.content.actual))
    return is_hidden and memory.status is not MemoryStatus.STALE


def _speaker(detail: MemoryDetail, session: Session) -> str:
    """Who a claim belongs to: the speaker of a cited line of speech, else the author of what is cited."""
    by_seq = {turn.seq: turn for turn, _ in detail.turns}
    beats = [beat for c in detail.memory.cites if (turn := by_seq.get(c.seq)) and (beat := turn.beat(c))]
    spoken = [beat for beat in beats if beat.kind is BeatKind.SPEECH]
    return (spoken or beats)[0].speaker if beats else session.character.card.name
