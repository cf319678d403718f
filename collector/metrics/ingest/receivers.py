"""Buffers of monitors that receive metrics: loaded on demand, evicted by weight."""

import time
from collections.abc import Iterator
from typing import Final
from uuid import UUID

from collector.metrics.ingest.series import ReceiverState
from collector.metrics.storage import series as table
from collector.monitors.service.columns import sealed_at
from collector.platform.seal import Keyring, whole
from collector.platform.storage.db import Db
from shared.kinds import ReceiverType, load
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus

# Changes of a monitor take effect for its pushes within this many seconds.
_FRESH_S: Final = 2.0
_UNKNOWN_MOST: Final = 10_000
_HELD: Final = 128 << 20


class Receivers:
    """Caches the state of pushed monitors, one per collector."""

    def __init__(self, db: Db, keyring: Keyring) -> None:
        self._db = db
        self._keyring = keyring
        self._states: dict[UUID, ReceiverState] = {}
        self._read_at: dict[UUID, float] = {}
        self._unknown: dict[UUID, float] = {}

    def __iter__(self) -> Iterator[ReceiverState]:
        return iter(list(self._states.values()))

    async def find(self, id_: UUID) -> ReceiverState | None:
        """The state of that monitor; None if it does not exist or does not receive metrics."""
        clock = time.monotonic()
        if clock - max(self._read_at.get(id_, -_FRESH_S), self._unknown.get(id_, -_FRESH_S)) < _FRESH_S:
            return self._states.get(id_)
        async with self._db.connection() as tx:
            row = await table.receiver(tx, id_)
        if row is None or row.type not in {ReceiverType.PROMETHEUS, ReceiverType.OPENTELEMETRY}:
            self._note_unknown(id_, clock)
            return None
        held = self._states.pop(id_, None)
        if held is None or held.revision != row.revision:
            held = self._opened(row)
        self._states[id_] = held
        self._read_at[id_] = clock
        return held

    def make_room(self) -> None:
        """Evict the least recently used states if they exceed the total limit."""
        held = sum(state.weight for state in self._states.values())
        for id_, state in list(self._states.items()):
            if held <= _HELD:
                break
            if not state.fresh and not state.dirty():
                del self._states[id_], self._read_at[id_]
                held -= state.weight

    def _opened(self, row: table.SeriesMonitor) -> ReceiverState:
        place = sealed_at(row.team_id, row.id)
        kind = load(row.type, whole(self._keyring, row.config, row.secrets, place))
        assert isinstance(kind, Prometheus | OpenTelemetry)  # noqa: S101 - `find` has checked the type
        return ReceiverState(row.team_id, row.id, row.monitor, row.interval_s, row.revision, kind)

    def _note_unknown(self, id_: UUID, clock: float) -> None:
        self._states.pop(id_, None)
        self._read_at.pop(id_, None)
        if len(self._unknown) >= _UNKNOWN_MOST:
            self._unknown.clear()
        self._unknown[id_] = clock
