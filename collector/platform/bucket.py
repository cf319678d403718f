"""Token buckets that collectors share: plans, and the share that one collector holds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

# After this time an unused share returns its tokens, and a share that asks often gets larger slices.
_IDLE_S: Final = 1.0
# Minimum time before an empty bucket is asked again.
_PAUSE_S: Final = 0.25
_CREDIT: Final = 50
_SLICE: Final = 20


@dataclass(frozen=True, slots=True)
class TeamPlan:
    """*per_minute* tokens flow into the bucket, up to *burst*; each request takes one.

    The other fields are a team's limits: monitors, alert channels, event streams, mails per hour.
    """

    per_minute: int
    burst: int
    monitors: int = 100_000
    channels: int = 1_000
    streams: int = 600
    mails_per_hour: int = 10_000

    @property
    def per_second(self) -> float:
        return self.per_minute / 60

    @property
    def credit(self) -> int:
        """How many tokens may be spent without asking the shared bucket, while it is well filled."""
        return max(1, self.burst // _CREDIT)

    @property
    def most(self) -> int:
        """The most tokens that one share may hold, out of reach for other collectors."""
        return max(1, self.burst // _SLICE)


PlanName: TypeAlias = Literal["free", "developer", "pro", "enterprise"]
PLANS: Final[Mapping[str, TeamPlan]] = MappingProxyType(
    {
        "free": TeamPlan(100, 200, monitors=100, mails_per_hour=100),
        "developer": TeamPlan(300, 600, monitors=1_000, mails_per_hour=1_000),
        "pro": TeamPlan(1000, 2000),
        "enterprise": TeamPlan(10_000, 20_000, monitors=1_000_000, mails_per_hour=100_000),
    }
)


def plans(per_minute: int | None, burst: int | None, **most: int | None) -> Mapping[str, TeamPlan]:
    """All plans, with the operator's limits for enterprise; by default, the burst is twice the rate.

    *most*: its other limits by name; None keeps the default.
    """
    usual = PLANS["enterprise"]
    rate = per_minute or usual.per_minute
    burst = burst or (2 * rate if per_minute else usual.burst)
    limits = {name: limit for name, limit in most.items() if limit is not None}
    return {**PLANS, "enterprise": replace(usual, per_minute=rate, burst=burst, **limits)}


@dataclass(frozen=True, slots=True)
class BucketRequest:
    """A share's request to its bucket: tokens given *back*, tokens spent on credit, tokens wanted."""

    back: int
    debt: int
    want: int


class BucketState(NamedTuple):
    """The state of a bucket after a request; *full_in_s* and *retry_after_s* count from then.

    A tuple, because one is created per request and a tuple takes a third of the time.
    """

    plan: TeamPlan
    admitted: bool
    remaining: int
    full_in_s: float
    retry_after_s: int


class Share:
    """One collector's share of a bucket; all times are on one monotonic clock."""

    __slots__ = ("_asked_at", "_at", "_burst", "_credit", "_debt", "_level", "_rate", "_refused_until",
                 "_sent", "_size", "_slice", "_used_at", "plan", "waiting")  # fmt: skip

    def __init__(self, plan: TeamPlan, now: float, *, known: bool) -> None:
        """*known*: assume a full bucket; otherwise the bucket is asked before anything is spent."""
        self.plan = plan
        self._burst, self._rate, self._credit = plan.burst, plan.per_second, plan.credit
        self.waiting = 0
        self._level: float | None = plan.burst if known else None
        self._at = now
        self._slice = 0
        self._debt = 0
        self._sent: BucketRequest | None = None
        self._size = plan.credit
        self._asked_at = now
        self._used_at = now
        self._refused_until = -math.inf

    def take(self, now: float) -> bool | None:
        """Spend a token; return whether there was one, or None if the bucket must be asked first."""
        self._used_at = now
        if self._slice:
            self._slice -= 1
            return True
        if self._level is not None and self._debt < self._credit and self._half_full(now):
            self._debt += 1
            return True
        return False if now < self._refused_until else None

    def ask(self, now: float) -> BucketRequest:
        """Create a request for more; `granted` or `alone` must follow before the next one."""
        often = now - self._asked_at < _IDLE_S
        self._size = min(self._size * 2, self.plan.most) if often else max(1, self._size // 2)
        self._asked_at = now
        want = min(max(self._size, self.waiting), self.plan.most)
        return self._send(0, want)

    def settle(self, now: float) -> BucketRequest | None:
        """A request that settles the debt and returns idle tokens; None if there is nothing to settle."""
        idle = self._slice if now - self._used_at >= _IDLE_S else 0
        if self._sent is not None or not (self._debt or idle):
            return None
        return self._send(idle, 0)

    def granted(self, level: float, granted: int, now: float) -> None:
        """Apply the bucket's answer: the tokens granted, and its new level."""
        self._debt -= self._sent.debt if self._sent else 0
        self._sent = None
        self._slice += granted
        self._level, self._at = level, now
        if not granted and level < 1:
            self._refused_until = now + max(_PAUSE_S, (1 - level) / self.plan.per_second)

    def alone(self, now: float) -> None:
        """Continue with an estimate while the bucket cannot be asked; spent tokens become debt."""
        sent, self._sent = self._sent, None
        self._slice += sent.back if sent else 0
        self._level, self._at = self._estimate(now), now
        if sent is None or not sent.want:
            return
        granted = min(max(0, math.floor(self._level - self._debt)), sent.want)
        self._slice += granted
        self._debt += granted
        if not granted:
            self._refused_until = now + _PAUSE_S

    def forgettable(self, now: float) -> bool:
        """Whether the share can be dropped, because the bucket is full."""
        return not (self._slice or self._debt or self._sent) and self._estimate(now) >= self.plan.burst

    def standing(self, now: float, *, admitted: bool) -> BucketState:
        held = min(self._burst, self._estimate(now) - self._debt + self._slice)
        full_in_s = (self._burst - held) / self._rate
        if admitted:
            return BucketState(self.plan, True, int(held) if held > 0 else 0, full_in_s, 0)
        wait_s = max(self._refused_until - now, (1 - held) / self._rate, 1)
        return BucketState(self.plan, False, 0, full_in_s, math.ceil(wait_s))

    def _estimate(self, now: float) -> float:
        if self._level is None:
            return self._burst
        return min(self._burst, self._level + (now - self._at) * self._rate)

    def _half_full(self, now: float) -> bool:
        return self._estimate(now) - self._debt >= self._burst / 2

    def _send(self, back: int, want: int) -> BucketRequest:
        self._slice -= back
        self._sent = BucketRequest(back, self._debt, want)
        return self._sent
