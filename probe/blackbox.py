"""The last result of each monitor for Prometheus, under the names that blackbox_exporter gives them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.results import Outcome, Phases, Status

# A page of more would hold up the checks while it is written.
MOST_MONITORS: Final = 2_000

# Of each phase the name that blackbox_exporter has for it.
_HTTP: Final = (
    ("resolve", "dns_us"),
    ("connect", "connect_us"),
    ("tls", "tls_us"),
    ("processing", "first_byte_us"),
    ("transfer", "transfer_us"),
)
_ICMP: Final = (("resolve", "dns_us"), ("rtt", "first_byte_us"))


@dataclass(frozen=True, slots=True)
class _Last:
    labels: str
    type: str
    good: bool
    code: int
    duration_us: int
    phases: Phases
    ends: float | None


class Board:
    """Holds no more than *most*, those that came first; what says nothing of a target is not held."""

    __slots__ = ("_last", "_most")

    def __init__(self, most: int = MOST_MONITORS) -> None:
        self._most = most
        self._last: dict[int, _Last] = {}

    def note(self, number: int, monitor: int, type_: str, outcome: Outcome, duration_us: int) -> None:
        """*number* is the assignment's."""
        if outcome.status is Status.UNKNOWN:
            self._last.pop(number, None)
        elif number in self._last or len(self._last) < self._most:
            good = outcome.status is Status.UP
            labels = f'monitor="{monitor}",assignment="{number}",type="{type_}"'
            self._last[number] = _Last(
                labels, type_, good, outcome.code, duration_us, outcome.phases, outcome.ends
            )

    def forget(self, number: int) -> None:
        self._last.pop(number, None)

    def leaving(self, leave: Callable[[int], None]) -> Callable[[int], None]:
        """*leave*, heard here as well."""

        def both(number: int) -> None:
            leave(number)
            self.forget(number)

        return both

    def text(self) -> str:
        """In Prometheus' format; empty where nothing was checked."""
        lasts = list(self._last.values())
        return "".join(
            family
            for name, told, values in _FAMILIES
            if (family := _family(name, told, [line for last in lasts for line in values(last)]))
        )


def _family(name: str, told: str, samples: Sequence[tuple[str, float]]) -> str:
    if not samples:
        return ""
    lines = [f"# HELP {name} {told}", f"# TYPE {name} gauge"]
    return "\n".join([*lines, *(f"{name}{{{labels}}} {value}" for labels, value in samples), ""])


Samples = Iterator[tuple[str, float]]


def _success(last: _Last) -> Samples:
    yield last.labels, int(last.good)


def _duration(last: _Last) -> Samples:
    yield last.labels, last.duration_us / 1_000_000


def _lookup(last: _Last) -> Samples:
    if last.phases.dns_us is not None:
        yield last.labels, last.phases.dns_us / 1_000_000


def _status(last: _Last) -> Samples:
    if last.type == "http":
        yield last.labels, last.code


def _expiry(last: _Last) -> Samples:
    if last.ends is not None:
        yield last.labels, last.ends


def _phases(type_: str, names: Sequence[tuple[str, str]]) -> Callable[[_Last], Samples]:
    def samples(last: _Last) -> Samples:
        if last.type != type_:
            return
        for name, field in names:
            us = getattr(last.phases, field)
            yield f'{last.labels},phase="{name}"', 0.0 if us is None else us / 1_000_000

    return samples


_FAMILIES: Final[tuple[tuple[str, str, Callable[[_Last], Samples]], ...]] = (
    ("probe_success", "1 if the last check was good.", _success),
    ("probe_duration_seconds", "How long the last check took.", _duration),
    ("probe_dns_lookup_time_seconds", "How long the name's look-up took.", _lookup),
    ("probe_http_status_code", "The status that was answered; 0 if none was.", _status),
    ("probe_http_duration_seconds", "How long each phase took, over all redirects.", _phases("http", _HTTP)),
    ("probe_icmp_duration_seconds", "How long each phase took.", _phases("icmp", _ICMP)),
    ("probe_ssl_earliest_cert_expiry", "When the first of the certificates ends, Unix time.", _expiry),
)
