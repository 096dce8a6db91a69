"""The time zones of the world, by their names in the tz database, and when a day begins in one of them."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

# At 05:00 a night's talk is over almost everywhere; the seed's figure.
MORNING_HOUR: Final = 5
# In the database, but no place: the machine's own zone, and none at all.
_NOWHERE: Final = {"localtime", "Factory"}


@cache
def _by_folded_name() -> dict[str, str]:
    return {name.casefold(): name for name in sorted(available_timezones() - _NOWHERE)}


def known_zones() -> tuple[str, ...]:
    """Every name, such as ``Europe/Berlin``, in alphabetical order."""
    return tuple(_by_folded_name().values())


def zone_name(written: str) -> str | None:
    """The name as the database spells it, whatever the case and the spaces that a person wrote; None for an unknown one."""
    return _by_folded_name().get("_".join(written.split()).casefold())


def morning_day(now: datetime, zone: str) -> date:
    """The day of a zone's calendar whose 05:00 was the last to pass; by the clock on the wall, so also when clocks change.

    Raises ZoneInfoNotFoundError.
    """
    on_the_wall = now.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (on_the_wall - timedelta(hours=MORNING_HOUR)).date()
