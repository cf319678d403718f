"""Rows of the list of monitors: their targets, and their latest checks as bars and as a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from collector.console.language import gettext
from collector.console.render import latency
from collector.history.service.statistics import DailyUptime
from collector.monitors.service.board import CHECKS, MonitorBoard
from collector.monitors.storage.board import BoardRow, RecentCheck
from shared import blackbox
from shared.results import Status

_STEP: Final = 4
_HEIGHT: Final = 20
_LEVELS: Final = {Status.UP: "good", Status.DOWN: "bad", Status.UNKNOWN: "none"}
_WORDS: Final = {Status.UP: "up", Status.DOWN: "down", Status.UNKNOWN: "unknown"}
# Fields of the configuration that name the target of types without host, URL or domain.
_NAMES: Final = ("url", "address", "contract", "network", "chain", "schedule", "cron")


@dataclass(frozen=True, slots=True)
class CheckBar:
    """A check, drawn from *x* on; *words*: for its tooltip."""

    x: int
    level: str
    words: str


@dataclass(frozen=True, slots=True)
class MonitorLine:
    """A line of the list; *spark*: the path of response times, in a field of WIDTH by 20."""

    item: BoardRow
    target: str
    silenced: bool
    bars: list[CheckBar]
    summary: str
    spark: str
    uptime: float | None


@dataclass(frozen=True, slots=True)
class MonitorSection:
    """Lines of one group; *states*: how many of its monitors are in which state, on all pages."""

    name: str | None
    states: dict[str, int]
    lines: list[MonitorLine]

    @property
    def count(self) -> int:
        return sum(self.states.values())


WIDTH: Final = CHECKS * _STEP - 1


def line(
    item: BoardRow, checks: Sequence[RecentCheck], daily: DailyUptime | None, now: datetime
) -> MonitorLine:
    return MonitorLine(
        item,
        target(item),
        item.silenced_until is not None and item.silenced_until > now,
        bars(checks),
        summary(checks),
        spark(checks),
        daily.uptime if daily else None,
    )


def bars(checks: Sequence[RecentCheck]) -> list[CheckBar]:
    """Draw the latest checks, the newest at the right."""
    first = CHECKS - len(checks)
    return [
        CheckBar((first + at) * _STEP, _LEVELS[Status(each.status)], _words(each))
        for at, each in enumerate(checks)
    ]


def summary(checks: Sequence[RecentCheck]) -> str:
    failed = sum(each.status == Status.DOWN for each in checks)
    if not checks:
        return gettext("No checks yet")
    return gettext("%(failed)s of the last %(count)s checks failed", failed=failed, count=len(checks))


def target(item: BoardRow) -> str:
    """Return the address that is checked, or the closest that the type has to one."""
    named = blackbox.target(item.type, item.config)
    texts = (item.config.get(name) for name in _NAMES)
    return named or next((text for text in texts if isinstance(text, str) and text), "")


def spark(checks: Sequence[RecentCheck]) -> str:
    """Return the line of the response times of good checks; none of fewer than two."""
    first = CHECKS - len(checks)
    points = [(first + at, each.ms) for at, each in enumerate(checks) if each.status == Status.UP]
    if len(points) < 2 or not (highest := max(ms for _, ms in points)):
        return ""
    return "M" + "L".join(
        f"{at * _STEP + 1} {_HEIGHT - 1 - (_HEIGHT - 2) * ms / highest:.1f}" for at, ms in points
    )


def sections(board: MonitorBoard, lines: Sequence[MonitorLine]) -> list[MonitorSection]:
    """Return the lines by group, in their order."""
    found: dict[str | None, list[MonitorLine]] = {}
    for each in lines:
        found.setdefault(each.item.group_name, []).append(each)
    return [MonitorSection(name, board.group(name), each) for name, each in found.items()]


def _words(check: RecentCheck) -> str:
    moment = check.ts.astimezone(UTC).strftime("%d %b %H:%M:%S UTC")
    status = Status(check.status)
    result = check.error or (latency(check.ms) if status is Status.UP else "")
    return f"{moment}, {check.location}: {_WORDS[status]}" + (f", {result}" if result else "")
