"""Mails that carry editions of reports, one for each edition and address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from collector.platform.storage.db import Tx


@dataclass(frozen=True, slots=True)
class DueMail:
    """A mail to send now; *tries* counts this one."""

    team_id: int
    report_id: UUID
    edition_id: UUID
    address: str
    tries: int


async def queue(tx: Tx, team_id: int, edition_id: UUID, addresses: Sequence[str], now: datetime) -> None:
    """Queue the edition for each of *addresses*, once."""
    await tx.execute(
        """
        INSERT INTO report_mails (team_id, edition_id, address, due_at)
        SELECT $1, $2, address, $4 FROM unnest($3::text[]) AS a (address) ON CONFLICT DO NOTHING
        """,
        team_id,
        edition_id,
        list(addresses),
        now,
    )


async def claim(tx: Tx, now: datetime, lease: timedelta) -> DueMail | None:
    """Take a mail that is due, and count the attempt; it is due again after *lease*."""
    row = await tx.fetchrow(
        """
        UPDATE report_mails m SET due_at = $1::timestamptz + $2::interval, tries = m.tries + 1
        FROM report_editions e
        WHERE e.team_id = m.team_id AND e.id = m.edition_id AND (m.team_id, m.edition_id, m.address) = (
            SELECT team_id, edition_id, address FROM report_mails WHERE due_at <= $1
            ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        RETURNING m.team_id, e.report_id, m.edition_id, m.address, m.tries
        """,
        now,
        lease,
    )
    return DueMail(**row) if row else None


async def finish(tx: Tx, mail: DueMail, error: str | None, now: datetime, again_at: datetime | None) -> None:
    """Record the result of an attempt, unless a later one began; *again_at* None: there is no other."""
    await tx.execute(
        """
        UPDATE report_mails SET error = $4, due_at = $6,
            sent_at = CASE WHEN $4::text IS NULL THEN $5::timestamptz END
        WHERE team_id = $1 AND edition_id = $2 AND address = $3 AND tries = $7
        """,
        mail.team_id,
        mail.edition_id,
        mail.address,
        error,
        now,
        again_at,
        mail.tries,
    )
