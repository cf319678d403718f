"""What happens in the demonstration: outages, slow weeks and response times, from a seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import cos, exp, pi
from random import Random
from typing import Final

from collector.demo.core.fleet import LOCATIONS, PlannedMonitor
from shared.kinds import OF_CHAINS

DAYS: Final = 90
HISTORY: Final = timedelta(days=DAYS)
_OUTAGES: Final = 84
_PARTIAL: Final = 14
# An outage that is over ended at least this long ago: its monitor is at rest.
_REST: Final = timedelta(minutes=45)
_ERRORS: Final[dict[str, tuple[str, ...]]] = {
    "http": (
        "HTTP 503: expected 200-299",
        "HTTP 502: expected 200-299",
        "connect: refused by 192.0.2.14:443",
        "timed out after 10 s waiting for the first byte",
        "tls: certificate has expired",
    ),
    "dns": ("dns: SERVFAIL from 192.0.2.53", "timed out after 10 s"),
    "icmp": ("3 of 3 packets lost",),
    "tls": ("tls: handshake failed", "connect: refused by 192.0.2.14:443"),
    "heartbeat": ("no ping within 15 min after it was due", "the job failed: exit status 1"),
    "web3": ("no usable node: https://rpc.example.com/ answered 429",),
    "": ("connect: refused by 192.0.2.20", "timed out after 10 s"),
}
_NOTES: Final = (
    "A bad deploy; rolled back.",
    "The database ran out of connections. Raised the limit and restarted the workers.",
    "Upstream provider had an outage, see their status page.",
    "Disk full on one node. Log rotation was off.",
    "Certificate was renewed by hand.",
)


@dataclass(frozen=True, slots=True)
class DemoOutage:
    """An outage of a monitor, or of one location if *place* is set; it lasts on if *ended_at* is None.

    *taken_after*: when somebody acknowledges, counted from the start; *note*: what they write.
    """

    monitor: PlannedMonitor
    started_at: datetime
    ended_at: datetime | None
    error: str
    place: str | None = None
    taken_after: timedelta | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class SlowTime:
    """A span in which a group answers slower, *times* as slow as usual."""

    group: str
    started_at: datetime
    ended_at: datetime
    times: float


# What is wrong at the end: name, minutes ago, minutes until it was acknowledged.
_STANDING: Final[tuple[tuple[str, int, int | None], ...]] = (
    ("Refunds API", 23, None),
    ("Catalogue API", 51, 6),
    ("Parcel partner", 190, 25),
    ("Office Lagos gateway", 75, None),
    ("Till 012", 2_900, None),
    ("Till 031", 640, 12),
    ("Wiki website", 340, None),
    ("Feed for partners", 305, None),
    ("Archive replica", 95, 9),
)
# What only one location sees at the end.
_DEGRADED: Final[tuple[tuple[str, int], ...]] = (("Edge gru ping", 37), ("Live prices syd", 12))


def troubles(fleet: Sequence[PlannedMonitor], now: datetime, random: Random) -> list[DemoOutage]:
    """All outages, by their start; no two of one monitor touch."""
    by_name = {monitor.name: monitor for monitor in fleet}
    found = [
        DemoOutage(
            by_name[name],
            now - timedelta(minutes=ago),
            None,
            error_of(by_name[name], random),
            taken_after=None if taken is None else timedelta(minutes=taken),
            note=random.choice(_NOTES[:3]) if taken else "",
        )
        for name, ago, taken in _STANDING
    ]
    found += [
        DemoOutage(
            by_name[name], now - timedelta(minutes=ago), None, error_of(by_name[name], random), "singapore"
        )
        for name, ago in _DEGRADED
    ]
    busy = {trouble.monitor.name for trouble in found}
    found += _outages([monitor for monitor in fleet if monitor.name not in busy], now, random)
    return sorted(found, key=lambda trouble: trouble.started_at)


def _outages(fleet: Sequence[PlannedMonitor], now: datetime, random: Random) -> Iterator[DemoOutage]:
    """Outages that are over. A few monitors have most of them, as in life."""
    weak = random.sample(list(fleet), 24)
    wide = [one for one in fleet if len(one.locations) > 1]
    taken: dict[str, list[tuple[datetime, datetime]]] = {}
    for at in range(_OUTAGES + _PARTIAL):
        partial = at >= _OUTAGES
        monitor = random.choice(wide if partial else weak if random.random() < 0.6 else fleet)
        # Nights and the time before yesterday are as likely as any other.
        start = now - _REST - timedelta(seconds=random.uniform(6 * 3600, (DAYS - 2) * 86_400))
        length = timedelta(minutes=min(240, max(4, exp(random.gauss(2.9, 0.9)))))
        end = min(start + length, now - _REST)
        before = taken.setdefault(monitor.name, [])
        if any(start < until + _REST and end > since - _REST for since, until in before):
            continue
        before.append((start, end))
        yield DemoOutage(
            monitor,
            start,
            end,
            error_of(monitor, random),
            random.choice(LOCATIONS) if partial else None,
            length * random.uniform(0.1, 0.6) if random.random() < 0.5 else None,
            random.choice(_NOTES) if random.random() < 0.4 else "",
        )


def error_of(monitor: PlannedMonitor, random: Random) -> str:
    """An error as checks of this type report it."""
    family = "web3" if monitor.type in OF_CHAINS else monitor.type
    return random.choice(_ERRORS.get(family, _ERRORS[""]))


def slow_times(now: datetime) -> list[SlowTime]:
    """A slow week of two groups, and a slow day of a third."""
    day = timedelta(days=1)
    return [
        SlowTime("Payments", now - 44 * day, now - 37 * day, 2.4),
        SlowTime("Storefront", now - 9 * day, now - 2 * day, 1.7),
        SlowTime("Logistics", now - 20 * day, now - 19 * day, 3.5),
    ]


class ResponseTimes:
    """Response times of the fleet: by the hour of the day, the distance, and the slow times."""

    def __init__(self, slow: Sequence[SlowTime]) -> None:
        self._slow = slow

    def mean_ms(self, monitor: PlannedMonitor, at: datetime, place: str) -> float:
        """The usual response time of *monitor* from *place* at that moment, in milliseconds."""
        hour = at.hour + at.minute / 60
        busy = (1 - cos((hour - 3) / 12 * pi)) / 2
        far = (
            1.0
            if monitor.received or not place
            else 1 + 0.35 * ((len(monitor.name) + LOCATIONS.index(place)) % 3)
        )
        slow = 1.0
        for span in self._slow:
            if span.group == monitor.body["group"] and span.started_at <= at < span.ended_at:
                slow = span.times
        return monitor.usual_ms * (1 + monitor.swing * busy) * far * slow

    def ms(self, monitor: PlannedMonitor, at: datetime, place: str, random: Random) -> int:
        """One measurement, with noise and rare outliers."""
        noise = random.lognormvariate(0, 0.12) * (4 if random.random() < 0.004 else 1)
        return max(1, round(self.mean_ms(monitor, at, place) * noise))
