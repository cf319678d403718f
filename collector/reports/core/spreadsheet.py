"""A report as CSV: a line for each monitor, and one for all together; times in seconds."""

from collections.abc import Sequence
from typing import Final

from collector.platform.csv_text import csv_lines, harmless
from collector.reports.core.content import Accounting, ReportContent

_TIMES: Final = ("period_s", "up_s", "down_s", "maintenance_s", "paused_s", "unknown_s", "uptime_percent")
HEADER: Final = (
    "monitor",
    "name",
    "first_day",
    "last_day",
    "timezone",
    *_TIMES,
    *(f"business_{name}" for name in _TIMES),
    "uptime_before_percent",
    "target_percent",
    "target_met",
    "incidents",
    "outages",
    "longest_s",
    "checks",
    "p50_ms",
    "p95_ms",
)
_TOTAL: Final = "All together"


def written(content: ReportContent) -> bytes:
    """Return the CSV. The last line is the sum of all monitors; its incidents include those without one."""
    days = (content.first_day.isoformat(), content.last_day.isoformat(), content.timezone)
    lines = [
        (
            line.id,
            harmless(line.name),
            *days,
            *_times(line.time),
            *_times(line.business),
            _percent(line.uptime_before),
            _number(content.target),
            _answer(line.met),
            line.incidents,
            line.outages,
            seconds(line.longest_ms),
            line.checks,
            _number(line.p50_ms),
            _number(line.p95_ms),
        )
        for line in content.monitors
    ]
    total = (
        "",
        _TOTAL,
        *days,
        *_times(content.time),
        *_times(content.business),
        _percent(content.before.uptime),
        _number(content.target),
        _answer(content.met),
        content.numbers.incidents,
        sum(line.outages for line in content.monitors),
        seconds(content.longest_ms),
        sum(line.checks for line in content.monitors),
        _number(content.p50_ms),
        _number(content.p95_ms),
    )
    return csv_lines([HEADER, *lines, total])


def spent(time: Accounting) -> Sequence[str]:
    """Return the period and its five parts in seconds."""
    parts = (
        time.period_ms,
        time.up_ms,
        time.down_ms,
        time.maintenance_ms,
        time.paused_ms,
        time.unknown_ms,
    )
    return [*map(seconds, parts)]


def seconds(ms: int) -> str:
    """Return milliseconds as seconds with three decimals, exactly."""
    return f"{ms // 1000}.{ms % 1000:03d}"


def _times(time: Accounting | None) -> Sequence[str]:
    return ("",) * len(_TIMES) if time is None else (*spent(time), _percent(time.uptime))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.3f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _answer(met: bool | None) -> str:
    return "" if met is None else "yes" if met else "no"
