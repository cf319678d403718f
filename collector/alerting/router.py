"""Decides who hears of an event: events that wait become deliveries, in the order of their stream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from collector.channels.webhook import hears
from collector.storage import channels, deliveries, streams
from collector.storage.channels import Listener
from collector.storage.db import Db, Tx
from collector.storage.streams import Stream, Waiting
from shared import ids
from shared.loop import Bell

_STREAMS = 200
_EVENTS = 50


class Router:
    """Any number of them may run; *told* is called when there is something new to send."""

    __slots__ = ("_db", "_told", "bell")

    def __init__(self, db: Db, told: Callable[[], None]) -> None:
        self._db = db
        self._told = told
        self.bell = Bell()

    async def turn(self) -> bool:
        """Route the next events of some streams. Is there more?"""
        async with self._db.transaction() as tx:
            claimed = await streams.claim(tx, _STREAMS)
            if not claimed:
                return False
            events = await streams.waiting(tx, claimed, _EVENTS)
            new = await _queue(tx, events)
            reached = _reached(claimed, events)
            await streams.advance(tx, reached)
        if new:
            self._told()
        return len(claimed) == _STREAMS or any(stream.routed < stream.sequence for stream in reached)


def choose(events: Sequence[Waiting], listeners: Mapping[int, Sequence[Listener]]) -> list[deliveries.New]:
    """One delivery for each event and each channel of its team that hears of it."""
    return [
        deliveries.New(
            team_id=event.team_id,
            id=ids.uuid7(),
            channel_id=listener.id,
            stream_id=event.stream_id,
            sequence=event.sequence,
            event_id=event.id,
            event_kind=event.kind,
        )
        for event in events
        for listener in listeners.get(event.team_id, ())
        if hears(listener.events, listener.monitors, event.kind, ids.show("mon", event.stream_id))
    ]


async def _queue(tx: Tx, events: Sequence[Waiting]) -> int:
    teams = sorted({event.team_id for event in events})
    found = await channels.listeners(tx, teams)
    listeners = {team: list(group) for team, group in groupby(found, key=lambda one: one.team_id)}
    chosen = choose(events, listeners)
    return await deliveries.insert(tx, chosen) if chosen else 0


def _reached(claimed: Sequence[Stream], events: Sequence[Waiting]) -> list[Stream]:
    """How far each stream has come; one whose events ran out before the limit is through."""
    routed: dict[object, list[int]] = {}
    for event in events:
        routed.setdefault((event.team_id, event.stream_id), []).append(event.sequence)
    return [
        replace(stream, routed=done[-1] if len(done) == _EVENTS else stream.sequence)
        for stream in claimed
        for done in [routed.get((stream.team_id, stream.stream_id), [])]
    ]
