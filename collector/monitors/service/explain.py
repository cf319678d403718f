"""Loads the explanation of a monitor's state, read at one moment."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from collector.evaluation.core.quorum import Vote
from collector.evaluation.core.state import CheckStreak
from collector.evaluation.storage import locked_monitors, states
from collector.evaluation.storage.states import StateAtLocation
from collector.evaluation.suppression import as_decided, surroundings
from collector.events.core.kinds import CHANGES, INCIDENTS, EventKind
from collector.events.core.subscriptions import is_subscribed
from collector.history.storage import result_reads
from collector.history.storage.result_reads import Result, ResultFilter
from collector.monitors.core.explain import Trace, VotingLocation
from collector.monitors.service.reads import WHAT
from collector.monitors.storage import explain_reads
from collector.monitors.storage.explain_reads import CheckedLocation, DeliveryRow, ExplanationRow, ParentRow
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import NotFound

_RESULTS = 10
_EVENTS = 5
# Kinds that do not announce its state.
_NO_NEWS = sorted(CHANGES | INCIDENTS)
_CHANNELS = 100
_RANGE = timedelta(days=7)
# A probe's clock may be ahead.
_AHEAD = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ExplanationInputs:
    """*results* and *told*: newest first; *heard*: some enabled channel would receive monitor.down."""

    monitor: ExplanationRow
    locations: Sequence[CheckedLocation]
    parents: Sequence[ParentRow]
    results: Sequence[Result]
    told: Sequence[DeliveryRow]
    heard: bool

    @property
    def places(self) -> list[VotingLocation]:
        return [at.place for at in self.locations]

    def trace(self, location: str) -> Trace:
        """Return the trace of a location; an empty one if the location no longer checks it."""
        traces = (at.trace for at in self.locations if at.place.vote.location == location)
        return next(traces, Trace())


async def explain(db: Db, team_id: int, id_: UUID, now: datetime) -> ExplanationInputs:
    """Load the explanation. Raises NotFound."""
    async with db.transaction() as tx:
        await explain_reads.freeze(tx)
        monitor = await explain_reads.monitor(tx, team_id, id_)
        if monitor is None:
            raise NotFound(f"{WHAT} not found")
        wanted = ResultFilter(since=now - _RANGE, until=now + _AHEAD)
        results = await result_reads.newest(tx, monitor.monitor, wanted, _RESULTS)
        oldest = results[-1].ts if results else now
        located = await states.of_monitors(tx, [monitor.monitor])
        locations = await explain_reads.places(tx, located, oldest)
        monitor = await _with_holds(tx, monitor, located, now)
        parents = await explain_reads.parents(tx, team_id, monitor.depends_on) if monitor.depends_on else []
        listening = await explain_reads.listening(tx, team_id)
        shown = ids.show("mon", id_)
        return ExplanationInputs(
            monitor,
            [*locations, *_unserved(monitor, locations)],
            parents,
            results,
            await explain_reads.notifications(tx, team_id, id_, _NO_NEWS, _EVENTS, _CHANNELS),
            any(
                is_subscribed(listener.events, listener.monitors, EventKind.MONITOR_DOWN, shown)
                for listener in listening
            ),
        )


async def _with_holds(
    tx: Tx, monitor: ExplanationRow, located: Sequence[StateAtLocation], now: datetime
) -> ExplanationRow:
    """Add the state as decisions see it, and what surrounds the monitor."""
    [judged_by] = await locked_monitors.read(tx, [monitor.monitor])
    held = (await surroundings(tx, [judged_by], {monitor.monitor: located}, now))[monitor.monitor]
    parent = held.parent.name if held.parent else None
    facts = replace(monitor.facts, monitor=as_decided(judged_by, held), parent=parent)
    return replace(monitor, facts=facts)


def _unserved(monitor: ExplanationRow, locations: Sequence[CheckedLocation]) -> list[CheckedLocation]:
    """Return locations of the monitor that never checked it."""
    known = {at.place.vote.location for at in locations}
    return [
        CheckedLocation(
            VotingLocation(Vote(name, failing=False, seen_at=None, known=False), CheckStreak(), None, ""),
            Trace(),
            probe=None,
            session=False,
            seen_at=None,
        )
        for name in monitor.locations
        if name not in known
    ]
