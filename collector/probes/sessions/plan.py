"""The plan of one session: sent to its probe as a snapshot, then as differences."""

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from uuid import UUID

import orjson
import structlog

from collector.platform.seal import Keyring, SealScope, Unsealable, whole
from collector.platform.storage.db import Db
from collector.probes.sessions.outbox import Outbox
from collector.probes.storage import plans
from collector.web3.service.nodes import NONE, Nodes, filled
from shared.loop import Bell
from shared.schedule import plan_hash
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()

_PART = 500
# How often the table is asked whether a signal was missed, and how seldom a drifted probe gets all again.
_COMPARE_EVERY_S = 60.0
# What the probe lets go of is its successor's within seconds; after this a signal was missed.
_HANDED_OVER_WITHIN_S = 180.0
_MASK = 2**64 - 1


class SessionPlan:
    """Kept by one task, so that what goes down the stream is in the order in which it was read."""

    def __init__(self, db: Db, keyring: Keyring, outbox: Outbox, probe_id: UUID, nodes: Nodes = NONE) -> None:
        self._db = db
        self._keyring = keyring
        self._nodes = nodes
        self._outbox = outbox
        self._probe_id = probe_id
        self._told: defaultdict[int, dict[int, tuple[int, int]]] = defaultdict(dict)
        self._hash = 0
        self._number = 0
        self._whole = False  # not in the middle of a snapshot
        self._changed: set[int] = set()
        self._wanted: set[int] = set()
        self._asked: set[int] = set()  # numbers that the probe was asked to let go of
        self._released: set[int] = set()  # those that it has let go of, until the plan says so
        self._bell = Bell()
        self._drifted = False
        self._compared_at = 0.0

    def changed(self, monitors: Iterable[int]) -> None:
        """These monitors may be checked by the probe now, or no more, or otherwise."""
        self._changed.update(monitors)
        self._bell.ring()

    def release(self, monitors: Iterable[int]) -> None:
        """The probe is to let go of these monitors: others will take them over."""
        self._wanted.update(monitors)
        self._bell.ring()

    def released(self, numbers: Iterable[int]) -> list[int]:
        """Those of *numbers* that the probe was asked to let go of, each once; it cannot give away others."""
        given = self._asked.intersection(numbers)
        self._asked -= given
        self._released |= given
        return sorted(given)

    def compare(self, number: int, hash_: int) -> None:
        """The probe says what it has; one that had every message and has something else gets it all again."""
        if self._whole and number == self._number and hash_ != self._hash and not self._drifted:
            log.warning("plan drifted", probe=str(self._probe_id), plan=number)
            self._drifted = True
            self._bell.ring()

    async def run(self) -> None:
        await self._snapshot()
        while True:
            await self._bell.wait(_COMPARE_EVERY_S)
            await self._differences()
            await self._ask_for_wanted()
            if self._is_to_be_compared():
                await self._verify()

    def _is_to_be_compared(self) -> bool:
        """Not while checks change hands: told of them again, the probe would go on with them."""
        since = time.monotonic() - self._compared_at
        if (self._asked or self._released) and since < _HANDED_OVER_WITHIN_S:
            return False
        return self._drifted or since >= _COMPARE_EVERY_S

    async def _snapshot(self) -> None:
        letting_go = self._asked | self._released
        self._asked.clear()
        self._released.clear()
        self._told.clear()
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
                for location, (number, _) in self._told.get(monitor, {}).items()
                if number not in numbers
            ]
            upsert = [planned for planned in current if self._news(planned)]
            if upsert or removed:
                await self._send(upsert, removed)

    async def _ask_for_wanted(self) -> None:
        wanted = [number for monitor in self._wanted for number, _ in self._told.get(monitor, {}).values()]
        self._wanted.clear()
        self._asked.update(wanted)
        for start in range(0, len(wanted), _PART):
            await self._send((), (), release=wanted[start : start + _PART])

    async def _verify(self) -> None:
        """Compare with the table what was told: all of it again when a signal was missed."""
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
        told = [self._tell(planned) for planned in upsert]
        plan = probe_pb2.Plan(
            number=self._number,
            starts_snapshot=starts,
            ends_snapshot=ends,
            upsert=told,
            removed=gone,
            release=release,
            hash=self._hash,
        )
        await self._outbox.put(probe_pb2.ToProbe(plan=plan))

    def _news(self, planned: plans.PlannedCheck) -> bool:
        return self._told.get(planned.monitor, {}).get(planned.location) != (planned.number, planned.revision)

    def _tell(self, planned: plans.PlannedCheck) -> probe_pb2.Assignment:
        before = self._told[planned.monitor].get(planned.location)
        changed = before is not None and before[0] == planned.number and before[1] != planned.revision
        if changed:  # it begins anew with it, and lets go of nothing
            self._asked.discard(planned.number)
        self._count(before, (planned.number, planned.revision))
        self._told[planned.monitor][planned.location] = (planned.number, planned.revision)
        return assignment(planned, self._keyring, self._nodes, at_once=planned.at_once or changed)

    def _forget(self, monitor: int, location: int) -> int:
        before = self._told[monitor].pop(location)
        if not self._told[monitor]:
            del self._told[monitor]
        self._count(before, None)
        self._asked.discard(before[0])
        self._released.discard(before[0])
        return before[0]

    def _count(self, before: tuple[int, int] | None, after: tuple[int, int] | None) -> None:
        """Keep the hash, which is a sum over all that was told, without adding all of it up again."""
        less, more = ([pair] if pair else [] for pair in (before, after))
        self._hash = (self._hash - plan_hash(less) + plan_hash(more)) & _MASK


def assignment(
    planned: plans.PlannedCheck, keyring: Keyring, nodes: Nodes, *, at_once: bool
) -> probe_pb2.Assignment:
    """All that a probe needs for its checks; *nodes*: of Web3, for monitors that name none.

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
    """A configuration that does not open goes down empty: that monitor is unknown, the others go on."""
    place = SealScope(planned.team_id, "monitors", planned.id, "secrets")
    try:
        config = whole(keyring, planned.config, planned.secrets, place)
        return orjson.dumps(filled(planned.type, config, nodes))
    except Unsealable as error:
        log.error("monitor without its secrets", monitor=planned.monitor, reason=str(error))  # noqa: TRY400
        return b"{}"
