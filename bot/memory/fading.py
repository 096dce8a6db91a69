"""How a trait fades when nobody sees it again, and how it comes back. More importance never means less retention."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from bot.memory.people import Trait, TraitStatus

# The seed's figures: a trait starts at 2 of 5, loses one after 30 days unseen, and goes after 60 days of dormancy.
START: Final = 2
MOST: Final = 5
STEP: Final = timedelta(days=30)
DORMANT_FOR: Final = timedelta(days=60)
RESTORABLE_FOR: Final = timedelta(days=30)
# A note is told for a week; what of it holds longer is a trait by then.
NOTE_DAYS: Final = 7


def aged(trait: Trait, now: datetime) -> Trait | None:
    """The trait as it stands at ``now``; None when it is gone for good.

    Decay is counted in whole steps from ``faded_at``, so it is the same however often and however late this is asked. The
    step that makes a trait dormant is counted from the date ahead, when it has one and that is later.
    """
    while trait.status is TraitStatus.ACTIVE:
        step = (trait.faded_at if trait.importance > 1 else _last_step_from(trait)) + STEP
        if step > now:
            break
        left = max(0, trait.importance - 1)
        trait = replace(trait, importance=left, faded_at=step, dormant_at=None if left else step)
    if trait.status is TraitStatus.DORMANT and trait.dormant_at and trait.dormant_at + DORMANT_FOR <= now:
        trait = replace(trait, forgotten_at=trait.dormant_at + DORMANT_FOR)
    if trait.forgotten_at and trait.forgotten_at + RESTORABLE_FOR <= now:
        return None
    return trait


def confirmed(trait: Trait, now: datetime) -> Trait:
    """The trait seen again at ``now``, what faded until then taken off first.

    One that was no longer in use comes back at importance 1 and hazy; one that its person took away stays away.
    """
    if trait.deleted:
        return trait
    current = aged(trait, now)
    in_use = current is not None and current.status is TraitStatus.ACTIVE
    importance = min(MOST, current.importance + 1) if current and in_use else 1
    return replace(
        _in_use(trait, importance, now), matches=trait.matches + 1, confirmed_at=now, hazy=importance < START
    )


def revived(trait: Trait, now: datetime) -> Trait:
    """A trait that is dormant at ``now`` and that the talk touched: importance 1, and hazy. Any other stays as it is."""
    current = aged(trait, now)
    if current is None or current.status is not TraitStatus.DORMANT:
        return trait
    return replace(_in_use(trait, 1, now), hazy=True)


def restored(trait: Trait, now: datetime) -> Trait:
    """A forgotten or dormant trait that its person wants back at ``now``: as a new one. Any other stays as it is."""
    return trait if trait.status is TraitStatus.ACTIVE else replace(_in_use(trait, START, now), hazy=False)


def taken_away(trait: Trait, now: datetime) -> Trait:
    """A trait that its person deleted at ``now``: out of use at once, restorable by them for a while."""
    return trait if trait.deleted else replace(trait, forgotten_at=now, deleted=True)


def _in_use(trait: Trait, importance: int, now: datetime) -> Trait:
    """The same in use, its decay counted from ``now``."""
    return replace(trait, importance=importance, faded_at=now, dormant_at=None, forgotten_at=None, deleted=False)


def is_past(trait: Trait, now: datetime) -> bool:
    """Whether the date that a trait is about is over at ``now``, in every time zone."""
    return trait.until is not None and _begun(trait.until) + timedelta(days=1) <= now


def _last_step_from(trait: Trait) -> datetime:
    """When the step to dormancy starts to count: not before a date ahead has begun."""
    return trait.faded_at if trait.until is None else max(trait.faded_at, _begun(trait.until))


def _begun(day: date) -> datetime:
    """When a day has begun in every time zone: at noon in UTC."""
    return datetime.combine(day, time(12), UTC)
