"""Routes events: creates a delivery for each channel, in the order of the event's stream."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from uuid import UUID

from collector.evaluation.storage import rule_triggers
from collector.events.core.kinds import EventKind
from collector.events.core.subscriptions import is_subscribed
from collector.notifications.storage import channels, deliveries, streams
from collector.notifications.storage.channels import ListeningChannel
from collector.notifications.storage.streams import UnroutedStream, Waiting
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.loop import Bell

_STREAMS = 1_000
_EVENTS = 10
_OF_MONITORS = ("monitor.", "incident.", "web3.")
_TAKEN = EventKind.INCIDENT_ACKNOWLEDGED


def _nobody() -> None:
    """The default for collectors without rules."""


class Router:
    """Turns events into deliveries. Any number may run."""

    __slots__ = ("_db", "_marked", "bell")

    def __init__(self, db: Db, marked: Callable[[], None] = _nobody) -> None:
        """*marked* is called after monitors were marked for rule evaluation; *bell* wakes this job."""
        self._db = db
        self._marked = marked
        self.bell = Bell()

    async def turn(self) -> bool:
        """Route the next events of some streams. Return whether more are waiting."""
        async with self._db.transaction() as tx:
            claimed = await streams.claim(tx, _STREAMS)
            if not claimed:
                return False
            events = await streams.waiting(tx, claimed, _EVENTS)
            await _queue(tx, await _with_pagers(tx, events))
            marks = await _mark(tx, events)
            reached = _reached(claimed, events)
            await streams.advance(tx, reached)
        if marks:
            self._marked()
        return len(claimed) == _STREAMS or any(stream.routed < stream.sequence for stream in reached)


def choose(
    events: Sequence[Waiting],
    listeners: Mapping[int, Sequence[ListeningChannel]],
    named: Collection[tuple[int, UUID]] = (),
) -> list[deliveries.NewDelivery]:
    """One delivery for each event and channel that is subscribed to it or to which it is addressed.

    *named*: the existing channels, with their teams, to which events are addressed.
    """
    return [
        deliveries.NewDelivery(
            team_id=event.team_id,
            id=ids.uuid7(),
            channel_id=channel_id,
            stream_id=event.stream_id,
            sequence=event.sequence,
            event_id=event.id,
            event_kind=event.kind,
        )
        for event in events
        for channel_id in dict.fromkeys((*_hearers(event, listeners), *_named(event, named)))
    ]


def _hearers(event: Waiting, listeners: Mapping[int, Sequence[ListeningChannel]]) -> Iterator[UUID]:
    for listener in listeners.get(event.team_id, ()):
        if is_subscribed(listener.events, listener.monitors, event.kind, ids.show("mon", event.stream_id)):
            yield listener.id


def _named(event: Waiting, named: Collection[tuple[int, UUID]]) -> list[UUID]:
    return [id_ for id_ in event.channels if (event.team_id, id_) in named]


async def _with_pagers(tx: Tx, events: Sequence[Waiting]) -> list[Waiting]:
    """Add the paging channels to acknowledgement events, so that they stop paging people."""
    taken = [event for event in events if event.kind == _TAKEN]
    pagers = await streams.pagers(tx, taken) if taken else {}
    return [
        replace(event, channels=[*event.channels, *pagers[event.id]]) if event.id in pagers else event
        for event in events
    ]


async def _queue(tx: Tx, events: Sequence[Waiting]) -> None:
    teams = sorted({event.team_id for event in events})
    listening_channels = await channels.listeners(tx, teams)
    listeners = {
        team: list(group) for team, group in groupby(listening_channels, key=lambda channel: channel.team_id)
    }
    wanted = sorted({id_ for event in events for id_ in event.channels})
    named = await channels.still_enabled(tx, wanted) if wanted else set()
    chosen = choose(events, listeners, named)
    if chosen:
        await deliveries.insert(tx, chosen)


async def _mark(tx: Tx, events: Sequence[Waiting]) -> int:
    """Mark the monitors of these events for rule evaluation, except events that rules caused."""
    keys = {(event.team_id, event.stream_id) for event in events if event.kind.startswith(_OF_MONITORS)}
    return await rule_triggers.add_where_ruled(tx, sorted(keys)) if keys else 0


def _reached(claimed: Sequence[UnroutedStream], events: Sequence[Waiting]) -> list[UnroutedStream]:
    """The new position of each stream; one that returned fewer events than the limit is fully routed."""
    routed: dict[object, list[int]] = {}
    for event in events:
        routed.setdefault((event.team_id, event.stream_id), []).append(event.sequence)
    return [
        replace(stream, routed=done[-1] if len(done) == _EVENTS else stream.sequence)
        for stream in claimed
        for done in [routed.get((stream.team_id, stream.stream_id), [])]
    ]
