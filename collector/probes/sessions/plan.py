"""The plan of one session: sent as a snapshot, then as differences; and the handover of released checks."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from uuid import UUID

import orjson
import structlog

from collector.platform.seal import Keyring, SealScope, Unsealable, whole
from collector.platform.signals import Signals
from collector.platform.storage.db import Db
from collector.probes.service.assignments import hand_over
from collector.probes.sessions.queue import Outbox, SlimQueue
from collector.probes.storage import plans
from collector.web3.service.nodes import NONE, Nodes, filled
from shared.clock import UtcClock
from shared.loop import Bell
from shared.schedule import plan_hash
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()

_PART = 500
# How often to compare with the table in case a signal was missed; also limits full resends after drift.
_COMPARE_EVERY_S = 60.0
# Handover takes seconds; after this time a signal must have been missed.
_HANDED_OVER_WITHIN_S = 180.0
_MOST_RELEASED = 64
_MASK = 2**64 - 1


class SessionPlan:
    """The probe's plan, sent by a single task, so that messages keep the order in which they were read."""

    def __init__(self, db: Db, keyring: Keyring, outbox: Outbox, probe_id: UUID, nodes: Nodes = NONE) -> None:
        self._db = db
        self._keyring = keyring
        self._nodes = nodes
        self._outbox = outbox
        self._probe_id = probe_id
        self._sent: defaultdict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        self._hash = 0
        self._number = 0
        self._whole = False  # not in the middle of a snapshot
        self._changed: set[int] = set()
        self._to_release: set[int] = set()
        self._asked: set[int] = set()  # numbers that the probe was asked to release
        self._released: set[int] = set()  # released numbers, until the plan reflects it
        self._bell = Bell()
        self._drifted = False
        self._compared_at = 0.0

    def changed(self, monitors: Iterable[int]) -> None:
        """The probe's assignments of these monitors may have changed."""
        self._changed.update(monitors)
        self._bell.ring()

    def release(self, monitors: Iterable[int]) -> None:
        """Ask the probe to release these monitors, which others will take over."""
        self._to_release.update(monitors)
        self._bell.ring()

    def released(self, numbers: Iterable[int]) -> list[int]:
        """The given *numbers* that the probe was asked to release, each once; it cannot release others."""
        given = self._asked.intersection(numbers)
        self._asked -= given
        self._released |= given
        return sorted(given)

    def compare(self, number: int, hash_: int) -> None:
        """Compare the probe's plan with what was sent; if it has drifted, schedule a full resend."""
        if self._whole and number == self._number and hash_ != self._hash and not self._drifted:
            log.warning("plan drifted", probe=str(self._probe_id), plan=number)
            self._drifted = True
            self._bell.ring()

    async def run(self) -> None:
        await self._snapshot()
        while True:
            await self._bell.wait(_COMPARE_EVERY_S)
            await self._differences()
            await self._ask_to_release()
            if self._is_to_be_compared():
                await self._verify()

    def _is_to_be_compared(self) -> bool:
        """Whether to compare now; not during a handover: a resent check would be kept by the probe."""
        since = time.monotonic() - self._compared_at
        if (self._asked or self._released) and since < _HANDED_OVER_WITHIN_S:
            return False
        return self._drifted or since >= _COMPARE_EVERY_S

    async def _snapshot(self) -> None:
        letting_go = self._asked | self._released
        self._asked.clear()
        self._released.clear()
        self._sent.clear()
        self._hash = 0
        self._drifted = False
        after, starts, ends = (-1, -1), True, False
        while not ends:
            async with self._db.connection() as tx:
                part = await plans.page(tx, self._probe_id, after, _PART)
            ends = len(part) < _PART
            again = sorted(letting_go.intersection(planned.number for planned in part))
            self._asked.update(again)
            await self._send(part, (), release=again, starts=starts, ends=ends)
            starts = False
            after = (part[-1].monitor, part[-1].location) if part else after
        self._compared_at = time.monotonic()

    async def _differences(self) -> None:
        while self._changed:
            monitors = list(islice(self._changed, _PART))
            self._changed.difference_update(monitors)
            async with self._db.connection() as tx:
                current = await plans.of_monitors(tx, self._probe_id, monitors)
            numbers = {planned.number for planned in current}
            removed = [
                (monitor, location)
                for monitor in monitors
                for location, (number, _) in self._sent.get(monitor, {}).items()
                if number not in numbers
            ]
            upsert = [planned for planned in current if self._is_new(planned)]
            if upsert or removed:
                await self._send(upsert, removed)

    async def _ask_to_release(self) -> None:
        numbers = [
            number for monitor in self._to_release for number, _ in self._sent.get(monitor, {}).values()
        ]
        self._to_release.clear()
        self._asked.update(numbers)
        for start in range(0, len(numbers), _PART):
            await self._send((), (), release=numbers[start : start + _PART])

    async def _verify(self) -> None:
        """Compare what was sent with the table; send all of it again if a signal was missed."""
        async with self._db.connection() as tx:
            numbers = await plans.numbers(tx, self._probe_id)
        self._compared_at = time.monotonic()
        if self._drifted or plan_hash(numbers) != self._hash:
            await self._snapshot()

    async def _send(
        self,
        upsert: Sequence[plans.PlannedCheck],
        removed: Sequence[tuple[int, int]],
        *,
        release: Sequence[int] = (),
        starts: bool = False,
        ends: bool = False,
    ) -> None:
        self._number += 1
        self._whole = ends or (self._whole and not starts)
        gone = [self._forget(monitor, location) for monitor, location in removed]
        assigned = [self._assigned(planned) for planned in upsert]
        plan = probe_pb2.Plan(
            number=self._number,
            starts_snapshot=starts,
            ends_snapshot=ends,
            upsert=assigned,
            removed=gone,
            release=release,
            hash=self._hash,
        )
        await self._outbox.put(probe_pb2.ToProbe(plan=plan))

    def _is_new(self, planned: plans.PlannedCheck) -> bool:
        return self._sent.get(planned.monitor, {}).get(planned.location) != (planned.number, planned.revision)

    def _assigned(self, planned: plans.PlannedCheck) -> probe_pb2.Assignment:
        before = self._sent[planned.monitor].get(planned.location)
        changed = before is not None and before[0] == planned.number and before[1] != planned.revision
        if changed:  # the probe restarts the check instead of releasing it
            self._asked.discard(planned.number)
        self._count(before, (planned.number, planned.revision))
        self._sent[planned.monitor][planned.location] = (planned.number, planned.revision)
        return assignment(planned, self._keyring, self._nodes, at_once=planned.at_once or changed)

    def _forget(self, monitor: int, location: int) -> int:
        before = self._sent[monitor].pop(location)
        if not self._sent[monitor]:
            del self._sent[monitor]
        self._count(before, None)
        self._asked.discard(before[0])
        self._released.discard(before[0])
        return before[0]

    def _count(self, before: tuple[int, int] | None, after: tuple[int, int] | None) -> None:
        """Update the hash incrementally: it is a sum over everything sent."""
        less, more = ([pair] if pair else [] for pair in (before, after))
        self._hash = (self._hash - plan_hash(less) + plan_hash(more)) & _MASK


class Handover:
    """Reassigns released assignments once their last results are committed: only those still count."""

    def __init__(self, db: Db, signals: Signals, probe_id: UUID, now: UtcClock) -> None:
        self._db = db
        self._signals = signals
        self._probe_id = probe_id
        self._now = now
        self._released = SlimQueue[tuple[Sequence[int], asyncio.Event]](_MOST_RELEASED)

    async def take(self, numbers: Sequence[int], committed: asyncio.Event) -> None:
        """Hand over these released assignments once *committed* is set."""
        await self._released.put((numbers, committed))

    async def run(self) -> None:
        while True:
            numbers, committed = await self._released.get()
            await committed.wait()
            async with self._db.transaction() as tx:
                await hand_over(tx, self._probe_id, numbers, self._now())
            self._signals.ring()


def assignment(
    planned: plans.PlannedCheck, keyring: Keyring, nodes: Nodes, *, at_once: bool
) -> probe_pb2.Assignment:
    """All that a probe needs to check a monitor; *nodes*: Web3 nodes for monitors that name none.

    A run never takes longer than the interval.
    """
    return probe_pb2.Assignment(
        number=planned.number,
        monitor=planned.monitor,
        location=planned.location,
        revision=planned.revision,
        type=planned.type,
        config=_config(planned, keyring, nodes),
        interval_ms=planned.interval_s * 1000,
        timeout_ms=min(planned.timeout_s, planned.interval_s) * 1000,
        turn=planned.turn,
        turns=planned.turns,
        failure_threshold=planned.failure_threshold,
        recovery_threshold=planned.recovery_threshold,
        fails=planned.fails,
        failing=planned.failing,
        at_once=at_once,
        state=planned.checkpoint or b"",
        stopped=planned.stopped,
        team=planned.team_id,
        monitor_id=planned.id.bytes,
    )


def _config(planned: plans.PlannedCheck, keyring: Keyring, nodes: Nodes) -> bytes:
    """The configuration; empty if it cannot be unsealed, so that only this monitor becomes unknown."""
    place = SealScope(planned.team_id, "monitors", planned.id, "secrets")
    try:
        config = whole(keyring, planned.config, planned.secrets, place)
        return orjson.dumps(filled(planned.type, config, nodes))
    except Unsealable as error:
        log.error("secrets of a monitor cannot be unsealed", monitor=planned.monitor, reason=str(error))  # noqa: TRY400
        return b"{}"
