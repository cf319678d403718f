"""What suppresses a monitor's notifications: one table that says what each hold allows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum
from typing import Final

from collector.evaluation.core.dependencies import Parents

# An incident that a user resolved is reopened if its monitor is still down after this time.
REOPENED_AFTER: Final = timedelta(minutes=10)


class Hold(StrEnum):
    """What suppresses notifications; each value is its name in answers."""

    PAUSED = "paused"
    UNMEASURED = "unmeasured"
    SILENCED = "silenced"
    MAINTENANCE = "maintenance"
    PARENT_DOWN = "parent_down"
    PARENT_AWAITED = "parent_awaited"
    FLAPPING = "flapping"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED_BY_HAND = "resolved_by_hand"
    NO_VOTERS = "no_voters"


class Reminders(Enum):
    """What a hold does to reminders and escalation; of several holds the last in this order wins."""

    GO_ON = 0
    AFRESH = 1
    HELD = 2
    STOP = 3


class AfterHold(StrEnum):
    """What happens to an outage that outlasts the hold."""

    NOTHING = "nothing"
    ANNOUNCED = "announced"
    OPENED = "opened"
    DECIDED = "decided"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldEffects:
    """What may happen while a hold applies.

    *moves*: the verdict changes; *opens*, *resolves*: System opens or resolves the incident; *openings*: an
    outage is announced; *recovery*: the end of an announced outage is announced.
    """

    moves: bool = True
    opens: bool = True
    resolves: bool = True
    openings: bool
    reminders: Reminders
    recovery: bool = True
    after: AfterHold


_PAUSED = HoldEffects(
    moves=False,
    opens=False,
    resolves=False,
    openings=False,
    reminders=Reminders.HELD,
    recovery=False,
    after=AfterHold.DECIDED,
)
_SILENCED = HoldEffects(openings=False, reminders=Reminders.HELD, after=AfterHold.ANNOUNCED)

TABLE: dict[Hold, HoldEffects] = {
    Hold.PAUSED: _PAUSED,
    Hold.UNMEASURED: _PAUSED,
    Hold.SILENCED: _SILENCED,
    Hold.MAINTENANCE: HoldEffects(
        opens=False, openings=False, reminders=Reminders.HELD, after=AfterHold.OPENED
    ),
    Hold.PARENT_DOWN: _SILENCED,
    Hold.PARENT_AWAITED: _SILENCED,
    Hold.FLAPPING: HoldEffects(
        resolves=False, openings=False, reminders=Reminders.HELD, recovery=False, after=AfterHold.ANNOUNCED
    ),
    Hold.ACKNOWLEDGED: HoldEffects(openings=True, reminders=Reminders.STOP, after=AfterHold.NOTHING),
    Hold.RESOLVED_BY_HAND: HoldEffects(
        opens=False, openings=False, reminders=Reminders.AFRESH, after=AfterHold.REOPENED
    ),
    Hold.NO_VOTERS: HoldEffects(
        moves=False,
        opens=False,
        resolves=False,
        openings=False,
        reminders=Reminders.GO_ON,
        recovery=False,
        after=AfterHold.DECIDED,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorContext:
    """Everything that may suppress a monitor's notifications.

    *maintenance_until*: the end of its present window; *flapping*: its state changes too often; *by_hand*: a
    user resolved the incident of its present outage; *votes*: some location votes; *measured*: something
    was, since it was made or resumed.
    """

    paused: bool = False
    silenced_until: datetime | None = None
    maintenance_until: datetime | None = None
    parents: Parents = Parents.WELL
    flapping: bool = False
    acknowledged: bool = False
    by_hand: bool = False
    votes: bool = True
    measured: bool = True


_NOTHING = MonitorContext()


@dataclass(frozen=True, slots=True)
class AllowedEffects:
    """What all holds together allow; see `HoldEffects`."""

    moves: bool
    opens: bool
    resolves: bool
    openings: bool
    recovery: bool
    reminders: Reminders


def holding(standing: MonitorContext, now: datetime) -> tuple[Hold, ...]:
    """Return the holds that apply, in the order of the table."""
    if standing == _NOTHING:
        return ()
    applies = {
        Hold.PAUSED: standing.paused,
        Hold.UNMEASURED: not standing.measured and not standing.paused,
        Hold.SILENCED: standing.silenced_until is not None and standing.silenced_until > now,
        Hold.MAINTENANCE: standing.maintenance_until is not None and standing.maintenance_until > now,
        Hold.PARENT_DOWN: standing.parents is Parents.DOWN,
        Hold.PARENT_AWAITED: standing.parents is Parents.AWAITED,
        Hold.FLAPPING: standing.flapping,
        Hold.ACKNOWLEDGED: standing.acknowledged,
        Hold.RESOLVED_BY_HAND: standing.by_hand,
        Hold.NO_VOTERS: not standing.votes,
    }
    return tuple(hold for hold, does in applies.items() if does)


def allowed(holds: Iterable[Hold]) -> AllowedEffects:
    """Return what all holds together allow; everything if there is none."""
    rows = [TABLE[hold] for hold in holds]
    return _together(rows) if rows else _ALL


def _together(rows: Sequence[HoldEffects]) -> AllowedEffects:
    return AllowedEffects(
        moves=all(row.moves for row in rows),
        opens=all(row.opens for row in rows),
        resolves=all(row.resolves for row in rows),
        openings=all(row.openings for row in rows),
        recovery=all(row.recovery for row in rows),
        reminders=max(
            (row.reminders for row in rows), key=lambda effect: effect.value, default=Reminders.GO_ON
        ),
    )


_ALL = _together(())
