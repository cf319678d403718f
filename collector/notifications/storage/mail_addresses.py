"""Mail addresses outside a team, and which are confirmed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from collector.platform.storage.db import Tx

# Minimum time between two requests, even if a channel's test uses the address again.
_APART = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class UnconfirmedAddress:
    """An address that has to confirm, and the team that wants to write to it."""

    team_id: int
    address: str
    team_name: str


async def outside(tx: Tx, team_id: int, addresses: Sequence[str]) -> list[str]:
    """The given addresses (lower case) that belong to no member of the team."""
    rows = await tx.fetch(
        """
        SELECT address FROM unnest($2::text[]) AS a (address)
        WHERE NOT EXISTS (
            SELECT FROM users u
            WHERE u.team_id = $1 AND lower(u.email) = a.address AND u.invitation IS NULL
        )
        """,
        team_id,
        addresses,
    )
    return [row["address"] for row in rows]


async def unconfirmed(tx: Tx, team_id: int, addresses: Sequence[str]) -> list[str]:
    """The given addresses (lower case) that have not confirmed."""
    rows = await tx.fetch(
        """
        SELECT address FROM unnest($2::text[]) AS a (address)
        WHERE NOT EXISTS (
            SELECT FROM mail_addresses m
            WHERE m.team_id = $1 AND m.address = a.address AND m.confirmed_at IS NOT NULL
        )
        """,
        team_id,
        addresses,
    )
    return [row["address"] for row in rows]


async def note(tx: Tx, limit: int) -> None:
    """Schedule a first request for recipients of channels and reports, outside their team, never asked."""
    await tx.execute(
        """
        INSERT INTO mail_addresses (team_id, address, due_at)
        SELECT DISTINCT c.team_id, c.address, clock_timestamp()
        FROM (
            SELECT team_id, lower(jsonb_array_elements_text(config -> 'recipients')) AS address
            FROM channels WHERE type = 'email'
            UNION SELECT team_id, lower(unnest(recipients)) FROM reports
        ) c
        WHERE NOT EXISTS (SELECT FROM mail_addresses m WHERE m.team_id = c.team_id AND m.address = c.address)
            AND NOT EXISTS (
                SELECT FROM users u
                WHERE u.team_id = c.team_id AND lower(u.email) = c.address AND u.invitation IS NULL
            )
        LIMIT $1 ON CONFLICT DO NOTHING
        """,
        limit,
    )


async def ask_again(tx: Tx, team_id: int, addresses: Sequence[str]) -> None:
    """Schedule another request to the addresses that were asked long ago and have not confirmed."""
    await tx.execute(
        """
        UPDATE mail_addresses SET due_at = clock_timestamp()
        WHERE team_id = $1 AND address = ANY ($2) AND confirmed_at IS NULL AND due_at IS NULL
            AND asked_at < clock_timestamp() - $3::interval
        """,
        team_id,
        addresses,
        _APART,
    )


async def claim(tx: Tx, limit: int, retry: timedelta) -> list[UnconfirmedAddress]:
    """Claim the addresses to ask now, each for one caller; due again after *retry* unless `asked` follows."""
    rows = await tx.fetch(
        """
        UPDATE mail_addresses m SET due_at = clock_timestamp() + $2::interval
        FROM teams t
        WHERE t.team_id = m.team_id AND (m.team_id, m.address) IN (
            SELECT team_id, address FROM mail_addresses
            WHERE due_at <= clock_timestamp() AND confirmed_at IS NULL
            ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
        )
        RETURNING m.team_id, m.address, t.name AS team_name
        """,
        limit,
        retry,
    )
    return [UnconfirmedAddress(**row) for row in rows]


async def prepare(tx: Tx, team_id: int, address: str, secret: bytes) -> None:
    """Store *secret* (a hash) as the next mail's link; the links of earlier mails become invalid."""
    await tx.execute(
        "UPDATE mail_addresses SET secret = $3 WHERE team_id = $1 AND address = $2",
        team_id,
        address,
        secret,
    )


async def asked(tx: Tx, team_id: int, address: str) -> None:
    """Record that the mail was handed in."""
    await tx.execute(
        """
        UPDATE mail_addresses SET asked_at = clock_timestamp(), due_at = NULL
        WHERE team_id = $1 AND address = $2
        """,
        team_id,
        address,
    )


async def linked(tx: Tx, secret: bytes) -> UnconfirmedAddress | None:
    """The address to which a link was sent, and the team that asked."""
    row = await tx.fetchrow(
        """
        SELECT m.team_id, m.address, t.name AS team_name
        FROM mail_addresses m JOIN teams t USING (team_id) WHERE m.secret = $1
        """,
        secret,
    )
    return UnconfirmedAddress(**row) if row else None


async def confirm(tx: Tx, secret: bytes) -> None:
    """Confirm the address; mails are sent to it from now on."""
    await tx.execute(
        """
        UPDATE mail_addresses SET confirmed_at = coalesce(confirmed_at, clock_timestamp()), due_at = NULL
        WHERE secret = $1
        """,
        secret,
    )
