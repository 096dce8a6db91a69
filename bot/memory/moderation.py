"""Who watches over a guild's memories, and what players report to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from bot.memory.corrections import CorrectionKind
from bot.memory.wording import Language


@dataclass(frozen=True, slots=True)
class GuildSettings:
    """What a guild chose: a role whose members are moderators here, the channel where corrections are posted, and its time zone.

    ``time_zone`` is a name of the tz database; None leaves it to the operator. ``language`` is that of what a whole channel
    reads; None leaves it to Discord.
    """

    guild_id: int
    moderator_role_id: int | None = None
    log_channel_id: int | None = None
    time_zone: str | None = None
    language: Language | None = None


# No Discord id is 0.
BY_AUDIT: Final = 0


class FlagState(StrEnum):
    """Where a report stands. ``done``: the memory was corrected because of it."""

    OPEN = "open"
    DONE = "done"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Flag:
    """A player's report that memory ``number`` is wrong, and ``why``.

    ``by`` and ``decided_by`` are Discord ids; ``by`` is :data:`BY_AUDIT`, and ``why`` empty, when no player but an audit of the
    chapter raised it. ``correction`` is what was done about it, None while it is open or when it
    was dismissed. ``decided_by`` is 0 after the moderator asked to be forgotten.
    """

    id: int
    session_id: int
    number: int
    by: int
    why: str
    at: datetime
    state: FlagState = FlagState.OPEN
    correction: CorrectionKind | None = None
    decided_by: int | None = None
    decided_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody has decided it yet."""
        return self.state is FlagState.OPEN
