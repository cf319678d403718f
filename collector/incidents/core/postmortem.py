"""Drafts a post-mortem in Markdown from an incident's log, checks and notes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from annotated_types import MaxLen, MinLen, Predicate

from collector.events.core.downtime import formatted
from collector.platform.monitor import has_ink
from shared.kinds.fields import ErrorText

_MOST_SEEN = 20
_MOST_OF_A_BODY = 200
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_{}[]<>#|!"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PostmortemText:
    """A post-mortem that a user wrote."""

    text: Annotated[
        str, MinLen(1), MaxLen(100_000), Predicate(has_ink), ErrorText("must be 1 to 100000 characters")
    ]
    """The text, in Markdown."""


@dataclass(frozen=True, slots=True)
class PostmortemLine:
    """One line of the log, or a note."""

    at: datetime
    who: str
    what: str
    text: str


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks of one location while the incident lasted; *error* is of its last failed check."""

    location: str
    checks: int
    failed: int
    error: str | None


@dataclass(frozen=True, slots=True)
class FailedCheckEvidence:
    """The evidence of one failed check that confirmed the outage; *phases* in ms."""

    at: datetime
    location: str
    address: str | None
    status_code: int | None
    error: str | None
    phases: Mapping[str, float]
    body: str | None


@dataclass(frozen=True, slots=True)
class PostmortemFacts:
    """*downtime_s*: the seconds of its open spans; *resolved_at* None: it is unresolved.

    *acknowledged_s*: the seconds from its creation to its acknowledgement.
    """

    title: str
    description: str
    severity: str
    status: str
    monitor: str | None
    started_at: datetime
    resolved_at: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    acknowledged_s: int | None
    downtime_s: int
    resolution: str | None
    log: Sequence[PostmortemLine]
    checks: Sequence[Checks]
    notes: Sequence[PostmortemLine]
    evidence: Sequence[FailedCheckEvidence] = ()


def markdown(facts: PostmortemFacts) -> str:
    """Return the whole document."""
    return "\n".join(_lines(facts)) + "\n"


def _lines(facts: PostmortemFacts) -> Iterator[str]:
    yield f"# Post-mortem: {_plain(facts.title)}"
    yield from ("", "| | |", "|---|---|")
    yield f"| Severity | {facts.severity} |"
    yield f"| Status | {facts.status} |"
    yield f"| Monitor | {_plain(facts.monitor or 'none')} |"
    yield f"| Started | {_time(facts.started_at)} |"
    yield f"| Acknowledged | {_acknowledged(facts)} |"
    yield f"| Resolved | {_time(facts.resolved_at) if facts.resolved_at else 'not yet'} |"
    yield f"| Downtime | {formatted(facts.downtime_s)} |"
    yield from _section("Summary", [_plain(facts.description or "What happened, in two sentences.")])
    yield from _section("Timeline", [_line(line) for line in facts.log])
    if facts.checks:
        yield from _section("Checks", _table(facts.checks))
    if facts.evidence:
        yield from _section("Evidence", [_seen(one) for one in facts.evidence[:_MOST_SEEN]])
    if facts.notes:
        yield from _section("Notes", [_line(line) for line in facts.notes])
    yield from _section("Resolution", [_plain(facts.resolution or "How it ended.")])
    yield from _section("Root cause", ["Why it happened, and why it was possible."])
    yield from _section("Actions", ["- [ ] What keeps it from happening again"])


def _acknowledged(facts: PostmortemFacts) -> str:
    if facts.acknowledged_at is None or facts.acknowledged_s is None:
        return "not yet" if facts.resolved_at is None else "never"
    by = f" by {_plain(facts.acknowledged_by)}" if facts.acknowledged_by else ""
    return f"{_time(facts.acknowledged_at)}{by}, after {formatted(facts.acknowledged_s)}"


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "", *lines)


def _line(line: PostmortemLine) -> str:
    text = f": {_plain(line.text)}" if line.text else ""
    return f"- {_time(line.at)} **{_plain(line.what)}** by {_plain(line.who)}{text}"


def _seen(one: FailedCheckEvidence) -> str:
    parts = [f"status {one.status_code}"] if one.status_code else []
    parts += [_plain(one.error)] if one.error else []
    parts += [f"{name} {ms:g} ms" for name, ms in one.phases.items()]
    to = f" to {_plain(one.address)}" if one.address else ""
    body = one.body[:_MOST_OF_A_BODY] if one.body else ""
    answer = f"; it answered: {_plain(body)}" if body.strip() else ""
    return f"- {_time(one.at)} **{_plain(one.location)}**{to}: {', '.join(parts)}{answer}"


def _table(checks: Sequence[Checks]) -> list[str]:
    rows = [
        f"| {_plain(check.location)} | {check.checks} | {check.failed} | {_plain(check.error or '')} |"
        for check in checks
    ]
    return ["| Location | Checks | Failed | Last error |", "|---|---|---|---|", *rows]


def _plain(text: str) -> str:
    """Return *text* on one line, escaped: it makes no heading, link, image or cell."""
    return " ".join(text.split()).translate(_SPECIAL)
