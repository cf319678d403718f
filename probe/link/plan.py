"""The probe's assignments, kept in step with the collector's plan."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol

import structlog

from probe.checks import TYPES, Check, Kept
from probe.schedule.stopped import WORDS, mark_of
from shared.schedule import plan_hash

log = structlog.get_logger()

# Bounds of a check's interval and duration.
MIN_INTERVAL_MS: Final = 100
MAX_TIMEOUT_MS: Final = 600_000
_UNKNOWN: Final = "unknown"
# Each name as one object, however many assignments have it.
_NAMES: Final = {name: name for name in TYPES}


# Not frozen: that would cost half a microsecond a field, and a plan has thousands.
@dataclass(slots=True, kw_only=True)
class Order:
    """An assignment as received from the collector."""

    number: int
    monitor: int
    location: int
    revision: int
    type: str
    config: bytes = field(repr=False)  # may contain secrets
    interval_ms: int
    timeout_ms: int
    turn: int = 0
    turns: int = 1
    failure_threshold: int = 1
    recovery_threshold: int = 1
    fails: int = 0
    failing: bool = False
    at_once: bool = False
    state: bytes = b""
    stopped: bool = False
    team: int = 0
    monitor_id: bytes = b""


@dataclass(slots=True, kw_only=True)
class ProbeAssignment:
    """An assignment, of which a probe has thousands. With a *fault* it cannot be run here.

    Its check is made by `probe.schedule.prepared` when it is due; all else stays as it is.
    """

    number: int
    monitor: int
    location: int
    revision: int
    type: str  # "unknown" for a type that this probe does not know
    config: bytes = field(repr=False)  # may contain secrets
    kept: Kept = field(compare=False, repr=False)  # the state from which its check continues
    fault: str
    interval_us: int
    timeout_s: float
    turn: int
    turns: int
    failure_threshold: int
    recovery_threshold: int
    fails: int
    failing: bool
    at_once: bool
    team: int = 0
    monitor_id: bytes = b""  # absent from older collectors
    check: Check | None = field(default=None, init=False, compare=False, repr=False)  # if it is kept

    @property
    def mark(self) -> int:
        """Identifies the check for `StoppedChecks`."""
        return mark_of(self.monitor, self.revision, self.config)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A message of the plan: part of a snapshot, or a difference."""

    number: int
    upsert: Sequence[Order] = ()
    removed: Sequence[int] = ()
    release: Sequence[int] = ()
    starts_snapshot: bool = False
    ends_snapshot: bool = False
    hash: int = 0


class AssignmentHolder(Protocol):
    """Works on the assignments of a plan."""

    def take(self, assigned: ProbeAssignment) -> None:
        """Begin with a new or changed assignment."""

    def leave(self, number: int) -> None:
        """End with an assignment that was removed."""

    def release(self, number: int) -> None:
        """Hand an assignment over to another probe; it stays until that has happened."""


class Plan:
    """All assignments by number; *stopped*: those that stopped a probe before, which are not run."""

    def __init__(self, holder: AssignmentHolder, stopped: Container[int] = ()) -> None:
        self._holder = holder
        self._stopped = stopped
        self._revisions: dict[int, int] = {}
        self._unnamed: set[int] | None = None  # by the snapshot being received
        self.number = 0
        self.hash = 0

    def __len__(self) -> int:
        return len(self._revisions)

    def apply(self, change: Change) -> None:
        """Apply a change; an invalid assignment does not affect others."""
        if change.starts_snapshot:
            self._unnamed = set(self._revisions)
        for number in change.removed:
            self._remove(number)
        for order in change.upsert:
            self._put(order)
        for number in change.release:
            self._holder.release(number)
        if change.ends_snapshot and self._unnamed is not None:
            for number in self._unnamed:
                self._remove(number)
            self._unnamed = None
        if self._unnamed is None:
            self.number = change.number
            self._compare(change)

    def prepare(self, order: Order) -> ProbeAssignment:
        """Prepare *order* to run, unless it has stalled a probe."""
        return prepare(order, self._stopped)

    def _put(self, order: Order) -> None:
        if self._unnamed is not None:
            self._unnamed.discard(order.number)
        self._count(order.number, order.revision)
        self._holder.take(self.prepare(order))

    def _remove(self, number: int) -> None:
        if number in self._revisions:
            self._count(number, None)
            self._holder.leave(number)

    def _count(self, number: int, revision: int | None) -> None:
        """Update the hash, which is a sum, by the difference."""
        before = self._revisions.pop(number, None)
        if before is not None:
            self.hash -= plan_hash([(number, before)])
        if revision is not None:
            self._revisions[number] = revision
            self.hash += plan_hash([(number, revision)])
        self.hash %= 2**64

    def _compare(self, change: Change) -> None:
        if change.hash and change.hash != self.hash:
            log.warning("plan differs from the collector's", plan=change.number, assignments=len(self))


def prepare(order: Order, stopped: Container[int] = ()) -> ProbeAssignment:
    """Bring *order* within bounds; an unknown or *stopped* one gets a fault."""
    fault = _fault(order, stopped)
    if fault:
        log.warning("assignment cannot be run", monitor=order.monitor, revision=order.revision, fault=fault)
    return ProbeAssignment(
        number=order.number,
        monitor=order.monitor,
        location=order.location,
        revision=order.revision,
        type=_NAMES.get(order.type, _UNKNOWN),
        config=order.config,
        kept=Kept(order.state),
        fault=fault,
        interval_us=_interval_us(order.interval_ms),
        timeout_s=_timeout_s(order.timeout_ms),
        turn=order.turn,
        turns=max(order.turns, 1),
        failure_threshold=max(order.failure_threshold, 1),
        recovery_threshold=max(order.recovery_threshold, 1),
        fails=order.fails,
        failing=order.failing,
        at_once=order.at_once,
        team=order.team,
        monitor_id=order.monitor_id,
    )


def _fault(order: Order, stopped: Container[int]) -> str:
    if order.stopped or mark_of(order.monitor, order.revision, order.config) in stopped:
        return WORDS
    return "" if order.type in TYPES else f"this probe cannot run checks of type {order.type[:64]!r}"


# Cached for the sake of memory: assignments with equal values share the object.
@lru_cache
def _interval_us(interval_ms: int) -> int:
    return max(interval_ms, MIN_INTERVAL_MS) * 1000


@lru_cache
def _timeout_s(timeout_ms: int) -> float:
    return min(max(timeout_ms, 1), MAX_TIMEOUT_MS) / 1000
