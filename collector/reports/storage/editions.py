"""Editions of reports: those to compute, and those whose numbers are stored for good."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.reports.core.periods import Days


class EditionStatus(StrEnum):
    """A failed edition was tried several times and is not tried again."""

    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdition:
    """An edition to compute; *mailed*: whether recipients get it."""

    team_id: int
    report_id: UUID
    id: UUID
    first_day: date
    last_day: date
    since: datetime
    until: datetime
    mailed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """*content* is as stored; *unsent*: the number of mails that wait, *sent* of those handed in."""

    team_id: int
    report_id: UUID
    id: UUID
    number: int
    first_day: date
    last_day: date
    since: datetime
    until: datetime
    requested_at: datetime
    work_at: datetime | None
    computed_at: datetime | None
    content: dict[str, Any] | None
    mailed: bool
    sent: int = 0
    unsent: int = 0

    @property
    def days(self) -> Days:
        return Days(self.first_day, self.last_day)

    @property
    def status(self) -> EditionStatus:
        if self.computed_at is not None:
            return EditionStatus.READY
        return EditionStatus.FAILED if self.work_at is None else EditionStatus.PENDING


_PLAIN: Final = """
    e.team_id, e.report_id, e.id, e.number, e.first_day, e.last_day, e.since, e.until, e.requested_at,
    e.work_at, e.computed_at, e.mailed
"""
_MAILS: Final = """
    (SELECT count(*) FROM report_mails m
     WHERE m.team_id = e.team_id AND m.edition_id = e.id AND m.sent_at IS NOT NULL)::int AS sent,
    (SELECT count(*) FROM report_mails m
     WHERE m.team_id = e.team_id AND m.edition_id = e.id AND m.due_at IS NOT NULL)::int AS unsent
"""


async def request(tx: Tx, new: NewEdition, now: datetime) -> None:
    """Add an edition with the next number of its period, to be computed now."""
    await tx.execute(
        """
        INSERT INTO report_editions
            (team_id, report_id, id, number, since, until, requested_at, work_at, mailed, first_day, last_day)
        SELECT $1, $2, $3, coalesce(max(e.number), 0) + 1, $4, $5, $6, $6, $7, $8, $9
        FROM report_editions e
        WHERE e.team_id = $1 AND e.report_id = $2 AND e.since = $4 AND e.until = $5
        """,
        new.team_id,
        new.report_id,
        new.id,
        new.since,
        new.until,
        now,
        new.mailed,
        new.first_day,
        new.last_day,
    )


async def exists(tx: Tx, new: NewEdition) -> bool:
    """Whether the period has an edition."""
    there: bool = await tx.fetchval(
        """
        SELECT EXISTS (
            SELECT FROM report_editions
            WHERE team_id = $1 AND report_id = $2 AND since = $3 AND until = $4
        )
        """,
        new.team_id,
        new.report_id,
        new.since,
        new.until,
    )
    return there


async def waiting(tx: Tx, team_id: int) -> int:
    """Return the number of the team's editions that are not computed yet."""
    number: int = await tx.fetchval(
        """
        SELECT count(*) FROM report_editions
        WHERE team_id = $1 AND computed_at IS NULL AND work_at IS NOT NULL
        """,
        team_id,
    )
    return number


async def claim(tx: Tx, now: datetime, lease: timedelta, most_tries: int) -> Edition | None:
    """Take an edition to compute or to check; it is due again after *lease*.

    Give up those that were tried *most_tries* times and whose collectors never came to an end.
    """
    await tx.execute(
        "UPDATE report_editions SET work_at = NULL WHERE work_at <= $1 AND tries >= $2", now, most_tries
    )
    row = await tx.fetchrow(
        f"""
        UPDATE report_editions e SET work_at = $1::timestamptz + $2::interval, tries = tries + 1
        WHERE (team_id, id) = (
            SELECT team_id, id FROM report_editions WHERE work_at <= $1
            ORDER BY work_at LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        RETURNING {_PLAIN}, content
        """,
        now,
        lease,
    )
    return Edition(**row) if row else None


async def keep(
    tx: Tx, edition: Edition, content: dict[str, Any], now: datetime, again_at: datetime | None
) -> bool:
    """Store the numbers, unless another collector did; return whether it did. *again_at*: the next check."""
    stored = await tx.fetchval(
        """
        UPDATE report_editions SET content = $3, computed_at = $4, work_at = $5, tries = 0
        WHERE team_id = $1 AND id = $2 AND computed_at IS NULL RETURNING true
        """,
        edition.team_id,
        edition.id,
        content,
        now,
        again_at,
    )
    return bool(stored)


async def checked(tx: Tx, edition: Edition, again_at: datetime | None) -> bool:
    """Record a check for late results; return False if another collector did. *again_at*: the next."""
    done = await tx.fetchval(
        """
        UPDATE report_editions SET work_at = $3, tries = 0
        WHERE team_id = $1 AND id = $2 AND tries > 0 RETURNING true
        """,
        edition.team_id,
        edition.id,
        again_at,
    )
    return bool(done)


async def newest(tx: Tx, team_id: int, report_id: UUID, limit: int, offset: int) -> list[Edition]:
    """Return editions of a report without their content: the latest period first, its newest first."""
    rows = await tx.fetch(
        f"""
        SELECT {_PLAIN}, NULL AS content, {_MAILS} FROM report_editions e
        WHERE e.team_id = $1 AND e.report_id = $2
        ORDER BY e.since DESC, e.until DESC, e.number DESC LIMIT $3 OFFSET $4
        """,
        team_id,
        report_id,
        limit,
        offset,
    )
    return [Edition(**row) for row in rows]


async def latest(tx: Tx, team_id: int, report_ids: Sequence[UUID]) -> dict[UUID, Edition]:
    """Return the newest edition of the latest period of each report, without its content."""
    rows = await tx.fetch(
        f"""
        SELECT DISTINCT ON (e.report_id) {_PLAIN}, NULL AS content, {_MAILS} FROM report_editions e
        WHERE e.team_id = $1 AND e.report_id = ANY ($2)
        ORDER BY e.report_id, e.since DESC, e.until DESC, e.number DESC
        """,
        team_id,
        list(report_ids),
    )
    return {row["report_id"]: Edition(**row) for row in rows}


async def count(tx: Tx, team_id: int, report_id: UUID) -> int:
    total: int = await tx.fetchval(
        "SELECT count(*) FROM report_editions WHERE team_id = $1 AND report_id = $2", team_id, report_id
    )
    return total


async def get(tx: Tx, team_id: int, report_id: UUID, id_: UUID) -> Edition | None:
    row = await tx.fetchrow(
        f"""
        SELECT {_PLAIN}, e.content, {_MAILS} FROM report_editions e
        WHERE e.team_id = $1 AND e.report_id = $2 AND e.id = $3
        """,
        team_id,
        report_id,
        id_,
    )
    return Edition(**row) if row else None
