"""Check results as Prometheus metrics, with blackbox_exporter's names."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shared.results import Phases

# Monitors per chunk; other tasks may run in between.
_AT_ONCE: Final = 500

# blackbox_exporter's name of each phase.
_HTTP: Final = (
    ("resolve", "dns_us"),
    ("connect", "connect_us"),
    ("tls", "tls_us"),
    ("processing", "first_byte_us"),
    ("transfer", "transfer_us"),
)
_ICMP: Final = (("resolve", "dns_us"), ("rtt", "first_byte_us"))

# The configuration fields that identify a target, for types whose target is not a host and a port.
_TARGETS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("http", "websocket"), ("url",)),
    **dict.fromkeys(("icmp", "dns"), ("host",)),
    "tls": ("domain",),
}
_HOST_AND_PORT: Final = ("host", "port")


@dataclass(frozen=True, slots=True)
class LastCheck:
    """The latest check of a monitor at a location; *labels*: as they appear in braces.

    *code*: the status of an HTTP response, 0 for none; *ends*: Unix time at which the first certificate
    expires.
    """

    labels: str
    type: str
    good: bool
    code: int
    duration_us: int
    phases: Phases
    ends: float | None


def text(lasts: Sequence[LastCheck]) -> Iterator[str]:
    """Prometheus text format, in chunks; families without samples are left out."""
    for name, words, values in _FAMILIES:
        head = f"# HELP {name} {words}\n# TYPE {name} gauge\n"
        for start in range(0, len(lasts), _AT_ONCE):
            lines = [
                f"{name}{{{labels}}} {value}\n"
                for last in lasts[start : start + _AT_ONCE]
                for labels, value in values(last)
            ]
            if lines:
                yield head + "".join(lines)
                head = ""


def target(type_: str, config: Mapping[str, Any]) -> str:
    """A monitor's target, as used for `instance`; empty for types that connect to nothing."""
    names = _TARGETS.get(type_, _HOST_AND_PORT)
    parts = [str(config[name]) for name in names if config.get(name) is not None]
    if len(parts) > 1 and ":" in parts[0]:
        parts[0] = f"[{parts[0]}]"
    return ":".join(parts)


def label(name: str, value: str) -> str:
    """``name="value"``, with *value* escaped."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'{name}="{escaped}"'


Samples = Iterator[tuple[str, float]]


def _success(last: LastCheck) -> Samples:
    yield last.labels, int(last.good)


def _duration(last: LastCheck) -> Samples:
    yield last.labels, last.duration_us / 1_000_000


def _lookup(last: LastCheck) -> Samples:
    if last.phases.dns_us is not None:
        yield last.labels, last.phases.dns_us / 1_000_000


def _status(last: LastCheck) -> Samples:
    if last.type == "http":
        yield last.labels, last.code


def _expiry(last: LastCheck) -> Samples:
    if last.ends is not None:
        yield last.labels, last.ends


def _phases(type_: str, names: Sequence[tuple[str, str]]) -> Callable[[LastCheck], Samples]:
    def samples(last: LastCheck) -> Samples:
        if last.type != type_:
            return
        for name, field in names:
            us = getattr(last.phases, field)
            yield f'{last.labels},phase="{name}"', 0.0 if us is None else us / 1_000_000

    return samples


_FAMILIES: Final[tuple[tuple[str, str, Callable[[LastCheck], Samples]], ...]] = (
    ("probe_success", "1 if the last check was good.", _success),
    ("probe_duration_seconds", "How long the last check took.", _duration),
    ("probe_dns_lookup_time_seconds", "How long the name's look-up took.", _lookup),
    ("probe_http_status_code", "The status that was answered; 0 if none was.", _status),
    ("probe_http_duration_seconds", "How long each phase took, over all redirects.", _phases("http", _HTTP)),
    ("probe_icmp_duration_seconds", "How long each phase took.", _phases("icmp", _ICMP)),
    ("probe_ssl_earliest_cert_expiry", "When the first of the certificates ends, Unix time.", _expiry),
)
