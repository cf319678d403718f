"""The main numbers of a report in words, for mails and PDF."""

from collections.abc import Iterator

from collector.reports.core.content import IncidentNumbers, ReportContent
from collector.reports.core.spreadsheet import seconds

_NONE = "–"


def summary(content: ReportContent) -> Iterator[tuple[str, str]]:
    """Yield labels and values."""
    before = content.before
    yield "Uptime", f"{percent(content.time.uptime)} ({percent(before.uptime)} in the period before)"
    if content.business is not None:
        yield "Within business hours", percent(content.business.uptime)
    if content.target is not None:
        yield "Target", f"{content.target:g} %: {verdict(content.met)}"
    yield "Incidents", f"{content.numbers.incidents} ({before.numbers.incidents} in the period before)"
    yield "MTTA, MTTR, MTBF", _means(content.numbers)
    yield "Longest outage", f"{seconds(content.longest_ms)} s"
    yield "Median, 95th percentile", f"{number(content.p50_ms)} ms, {number(content.p95_ms)} ms"


def percent(share: float | None) -> str:
    """Return ``99.953 %``."""
    return _NONE if share is None else f"{share:.3f} %"


def number(value: float | None) -> str:
    """Return a number without needless digits."""
    return _NONE if value is None else f"{value:g}"


def verdict(met: bool | None) -> str:
    """Say whether a target is reached."""
    return _NONE if met is None else "reached" if met else "missed"


def _means(numbers: IncidentNumbers) -> str:
    means = (numbers.mtta, numbers.mttr, numbers.mtbf)
    return ", ".join(_NONE if mean is None else f"{mean} s" for mean in means)
