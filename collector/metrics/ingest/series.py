"""One collector's state of a monitor that receives metrics: series, rules, unwritten samples."""

import asyncio
import hmac
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

from collector.metrics.core import series as core
from collector.metrics.core.conditions import ObservedSample
from collector.metrics.core.series import BadSeries, Labels, SeriesState
from collector.platform import pace
from collector.platform.bucket import BucketState
from collector.platform.pace import PaceLimit
from shared.clock import EPOCH
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus

MAX_SERIES: Final = 10_000
# Characters of labels: of the stored series, and of the byte forms in which they were sent.
MAX_WEIGHT: Final = 8 << 20
MAX_KNOWN: Final = 8 << 20
# Overhead of an entry besides its text.
_EACH: Final = 64
_MOST_OBSERVED: Final = 100_000
# Pushes that a collector admits locally; more frequent ones take tokens from a shared bucket.
_EASY: Final = PaceLimit(0.2, 3)
# How far a sample may be ahead of our clock.
AHEAD_MS: Final = 600_000

Receiving = Prometheus | OpenTelemetry
# The attributes of a point as bytes, one by one or all together.
Form: TypeAlias = tuple[bytes, ...] | bytes
Forms: TypeAlias = dict[Form, SeriesState]


@dataclass(slots=True)
class PushResult:
    """The result of a push. *faults*: reasons for rejection, with the number of samples each."""

    samples: int = 0
    histograms: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def refuse(self, why: str, count: int = 1) -> None:
        self.faults[why] = self.faults.get(why, 0) + max(1, count)

    @property
    def refused(self) -> int:
        return sum(self.faults.values())


class ReceiverState:
    """The state of one pushed monitor; *fresh*: samples not yet counted by a transaction."""

    def __init__(
        self, team_id: int, id_: UUID, monitor: int, interval_s: int, revision: int, kind: Receiving
    ) -> None:
        self.team_id = team_id
        self.id = id_
        self.monitor = monitor
        self.interval_s = interval_s
        self.revision = revision
        self.kind = kind
        filters = kind.label_filters if isinstance(kind, Prometheus) else kind.resource_attributes
        self.matches = core.matcher(filters)
        self.known: dict[bytes, SeriesState | None] = {}
        self.heads: dict[bytes, Forms] = {}
        self.series: dict[bytes, SeriesState] = {}
        self.fresh = 0
        # Samples for conditions, not yet stored; while the database is unavailable, the oldest are dropped.
        self.observed: deque[ObservedSample] = deque(maxlen=_MOST_OBSERVED)
        self._known_weight = 0
        self.weight = 0
        # Limits of concurrent pushes of a monitor, and of large ones among them; others wait.
        self.places = asyncio.Semaphore(8)
        self.large = asyncio.Semaphore(2)
        # The state of the shared bucket after the last push that took a token.
        self.standing: BucketState | None = None
        self._easy_ahead_s = 0.0
        self._easy_at = time.monotonic()

    @property
    def stale_after_s(self) -> int:
        return self.kind.stale_after or 3 * self.interval_s

    def admits(self, token: str) -> bool:
        """Whether it is this monitor's token."""
        return hmac.compare_digest(token.encode(), self.kind.auth_token.encode())

    def easy(self) -> bool:
        """Whether the local rate limit admits this push; if so, it is counted."""
        now = time.monotonic()
        stepped = pace.step(self._easy_ahead_s - (now - self._easy_at), _EASY)
        if stepped is None:
            return False
        self._easy_ahead_s, self._easy_at, self.standing = stepped, now, None
        return True

    def find(self, labels: Labels, *, count: int) -> SeriesState | None:
        """The series with these labels, None if the monitor ignores it. Raises BadSeries."""
        weight = core.check(labels, count=count)
        if isinstance(self.kind, Prometheus) and not self.matches(labels):
            return None
        key = core.key(labels)
        state = self.series.get(key)
        if state is None:
            if len(self.series) >= MAX_SERIES or self.weight + weight > MAX_WEIGHT:
                raise BadSeries(f"a monitor keeps {MAX_SERIES} series and {MAX_WEIGHT >> 20} MiB of labels")
            state = self.series[key] = SeriesState(key, labels, weight, self._watched(labels))
            self.weight += weight
        return state

    def remember(self, form: bytes, series: SeriesState | None) -> None:
        """Remember the series of these label bytes, so that they are not parsed again."""
        self._weigh(len(form))
        self.known[form] = series

    def forms(self, head: bytes) -> Forms:
        """The remembered forms of series that share a head: a metric of a resource."""
        known = self.heads.get(head)
        if known is None:
            self._weigh(len(head))
            known = self.heads[head] = {}
        return known

    def remember_form(self, forms: Forms, form: Form, series: SeriesState) -> None:
        self._weigh(len(form) if isinstance(form, bytes) else sum(map(len, form)))
        forms[form] = series

    def _weigh(self, more: int) -> None:
        self._known_weight += more + _EACH
        if self._known_weight > MAX_KNOWN:
            self._forget_forms()

    def _forget_forms(self) -> None:
        self.known.clear()
        self.heads.clear()
        self._known_weight = 0

    def forget(self, before_s: int) -> None:
        """Drop series without samples since then."""
        old = [state for state in self.series.values() if state.seen_s < before_s and not state.dirty]
        if old:
            for state in old:
                del self.series[state.key]
                self.weight -= state.weight
            self._forget_forms()

    def settle(self, fresh: int, observed: int) -> None:
        """Subtract committed samples."""
        self.fresh -= fresh
        for _ in range(min(observed, len(self.observed))):
            self.observed.popleft()

    def dirty(self) -> list[SeriesState]:
        return [state for state in self.series.values() if state.dirty]

    def _watched(self, labels: Labels) -> tuple[int, ...]:
        name = labels[core.NAME]
        return tuple(i for i, condition in enumerate(self.kind.conditions) if condition.metric == name)


@dataclass(slots=True)
class SeriesPush:
    """A push in progress."""

    state: ReceiverState
    now: datetime
    taken: PushResult = field(default_factory=PushResult)
    _now_s: int = 0
    _latest_ms: int = 0

    def __post_init__(self) -> None:
        self._now_s = int(self.now.timestamp())
        self._latest_ms = self._now_s * 1000 + AHEAD_MS

    def timely(self, at_ms: int) -> bool:
        """Whether the time is plausible for a sample; if not, it is rejected."""
        if 0 < at_ms <= self._latest_ms:
            return True
        self.taken.refuse("the time of a sample is missing, before 1970, or more than 10 minutes ahead")
        return False

    def sample(self, series: SeriesState, at_ms: int, value: float | None, *, stale: bool = False) -> None:
        """Store a sample of a matching series; one that is not newer than the last changes nothing."""
        if not 0 < at_ms <= self._latest_ms and not self.timely(at_ms):
            return
        if at_ms <= series.at_ms:
            return
        series.at_ms, series.value, series.stale = at_ms, value, stale
        series.seen_s, series.dirty = self._now_s, True
        if not stale:
            self.state.fresh += 1
        if series.watched:
            at = EPOCH + timedelta(milliseconds=at_ms)
            seen = ObservedSample(series.key, series.labels, series.watched, at, None if stale else value)
            self.state.observed.append(seen)
