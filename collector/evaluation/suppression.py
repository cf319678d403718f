"""Loads everything that can suppress a monitor's notifications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from collector.evaluation.core.decision import EvaluatedMonitor
from collector.evaluation.core.dependencies import DownChild, Parents, ParentState, verdict
from collector.evaluation.core.holds import MonitorContext
from collector.evaluation.storage import dependencies
from collector.evaluation.storage.locked_monitors import LockedMonitor
from collector.evaluation.storage.states import StateAtLocation
from collector.incidents.core.status import IncidentStatus
from collector.maintenance.storage import spans
from collector.platform.storage.db import Tx

_NOTHING = MonitorContext()


@dataclass(frozen=True, slots=True)
class SuppressionContext:
    """What surrounds a monitor; *parent*: one that is down, if any is."""

    standing: MonitorContext = _NOTHING
    parent: ParentState | None = None


def as_decided(locked: LockedMonitor, around: SuppressionContext | None = None) -> EvaluatedMonitor:
    """Return the monitor as decisions see it; without *around* only its own row can suppress anything."""
    return EvaluatedMonitor(
        locked.name,
        locked.quorum,
        locked.down,
        locked.announced,
        locked.silenced_until,
        locked.reannounce,
        locked.unrecorded_until,
        locked.degraded_since,
        locked.flapping_since,
        tuple(locked.turned_at),
        around.standing if around else _NOTHING,
    )


async def surroundings(
    tx: Tx, monitors: Sequence[LockedMonitor], places: Mapping[int, Sequence[StateAtLocation]], now: datetime
) -> dict[int, SuppressionContext]:
    """Return the surroundings by the monitors' keys; *places*: their present locations."""
    windows = await spans.active(tx, [locked.monitor for locked in monitors], now)
    wanted = {(locked.team_id, id_) for locked in monitors for id_ in locked.depends_on}
    known = await dependencies.standing(tx, sorted(wanted)) if wanted else {}
    around = {}
    for locked in monitors:
        parents = [known[locked.team_id, id_] for id_ in locked.depends_on if (locked.team_id, id_) in known]
        here = places.get(locked.monitor, ())
        state = verdict(_child(locked, here, now), parents, now)
        around[locked.monitor] = SuppressionContext(
            MonitorContext(
                maintenance_until=windows.get(locked.monitor),
                parents=state if parents else Parents.WELL,
                acknowledged=locked.open_incident is not None
                and locked.open_incident.status == IncidentStatus.ACKNOWLEDGED,
                by_hand=locked.by_hand,
                votes=any(place.vote.counts(now) for place in here),
                measured=any(place.last_at is not None for place in here),
            ),
            next((parent for parent in parents if parent.down and not parent.paused), None),
        )
    return around


def _child(locked: LockedMonitor, places: Sequence[StateAtLocation], now: datetime) -> DownChild:
    bad = [place for place in places if place.state.fails or place.state.failing]
    return DownChild(
        since=min((place.state.failed_since for place in bad if place.state.failed_since), default=now),
        turned_at=locked.changed_at if locked.down else now,
        measured_at=max((place.last_at for place in bad if place.last_at), default=None),
    )
