"""Takes the name and the address of a removed user out of everything that is kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from collector.platform.storage.db import Tx

# Columns with a person as ``{id, name}``, and with a person's name alone.
PERSONS: Final = (
    ("incidents", "acknowledged_by"),
    ("incidents", "resolved_by"),
    ("incident_notes", "created_by"),
    ("alerts", "acknowledged_by"),
    ("alerts", "recovered_by"),
)
NAMES: Final = (("timeline", "actor"), ("postmortems", "updated_by"), ("wall_links", "created_by"))


@dataclass(frozen=True, slots=True)
class RemovedUser:
    """*id* is public (``usr_...``); *names*: those of nobody else in the team; *label* takes their place."""

    team_id: int
    id: str
    names: Sequence[str]
    email: str
    label: str


async def number(tx: Tx, team_id: int) -> int:
    """Return the number of the team's next removed user, from 1."""
    taken: int = await tx.fetchval(
        "UPDATE teams SET removed_users = removed_users + 1 WHERE team_id = $1 RETURNING removed_users",
        team_id,
    )
    return taken


async def names(tx: Tx, team_id: int, id_: str, name: str) -> list[str]:
    """Return the present name and the earlier ones under which a user acted, without those of others."""
    rows = await tx.fetch(
        """
        SELECT name FROM (
            SELECT $3::text AS name
            UNION SELECT actor_name FROM audit_log WHERE team_id = $1 AND actor_id = $2
        ) n
        WHERE NOT EXISTS (SELECT FROM users u WHERE u.team_id = $1 AND u.name = n.name)
        """,
        team_id,
        id_,
        name,
    )
    return [row["name"] for row in rows]


async def forget(tx: Tx, user: RemovedUser) -> None:
    """Replace the user's names, and delete the user's address; the row of the user is deleted already."""
    nameless = {"id": None, "name": user.label}
    for table, column in PERSONS:
        await tx.execute(
            f"UPDATE {table} SET {column} = $3 WHERE team_id = $1 AND {column} ->> 'id' = $2",
            user.team_id,
            user.id,
            nameless,
        )
    await tx.execute(
        """
        UPDATE timeline SET details = left(details, -length(n.name)) || $3
        FROM unnest($2::text[]) AS n (name)
        WHERE team_id = $1 AND actor = n.name AND right(details, length(n.name) + 3) = 'by ' || n.name
        """,
        user.team_id,
        user.names,
        user.label,
    )
    for table, column in NAMES:
        await tx.execute(
            f"UPDATE {table} SET {column} = $3 WHERE team_id = $1 AND {column} = ANY ($2)",
            user.team_id,
            user.names,
            user.label,
        )
    await _forget_in_audit_log(tx, user)
    await _forget_in_events(tx, user, nameless)
    await _forget_address(tx, user)


async def _forget_in_audit_log(tx: Tx, user: RemovedUser) -> None:
    """Keep who did what as a number: neither the name nor the network address."""
    await tx.execute(
        "UPDATE audit_log SET actor_name = $3, address = NULL WHERE team_id = $1 AND actor_id = $2",
        user.team_id,
        user.id,
        user.label,
    )
    await tx.execute(
        "UPDATE audit_log SET resource_name = $3 WHERE team_id = $1 AND resource_id = $2",
        user.team_id,
        user.id,
        user.label,
    )


async def _forget_in_events(tx: Tx, user: RemovedUser, nameless: dict[str, Any]) -> None:
    rows = await tx.fetch(
        """
        SELECT stream_id, sequence, payload FROM events
        WHERE team_id = $1 AND strpos(payload::text, $2) > 0 FOR NO KEY UPDATE
        """,
        user.team_id,
        user.id,
    )
    await tx.executemany(
        "UPDATE events SET payload = $4 WHERE team_id = $1 AND stream_id = $2 AND sequence = $3",
        [
            (user.team_id, row["stream_id"], row["sequence"], _without(row["payload"], user.id, nameless))
            for row in rows
        ],
    )


async def _forget_address(tx: Tx, user: RemovedUser) -> None:
    """Delete the address where mails were sent to, or are to be sent to by a report."""
    for query in (
        "DELETE FROM mail_addresses WHERE team_id = $1 AND address = lower($2)",
        "DELETE FROM report_mails WHERE team_id = $1 AND lower(address) = lower($2)",
        """
        UPDATE reports SET recipients = ARRAY(
            SELECT r FROM unnest(recipients) WITH ORDINALITY AS u (r, n)
            WHERE lower(r) <> lower($2) ORDER BY n
        )
        WHERE team_id = $1 AND EXISTS (SELECT FROM unnest(recipients) AS r WHERE lower(r) = lower($2))
        """,
        """
        UPDATE channels SET config = jsonb_set(config, '{recipients}', (
            SELECT jsonb_agg(r) FROM jsonb_array_elements_text(config -> 'recipients') AS r
            WHERE lower(r) <> lower($2)
        ))
        WHERE team_id = $1 AND type = 'email' AND jsonb_array_length(config -> 'recipients') > 1
            AND EXISTS (
                SELECT FROM jsonb_array_elements_text(config -> 'recipients') AS r WHERE lower(r) = lower($2)
            )
        """,
    ):
        await tx.execute(query, user.team_id, user.email)
    for query in (
        """
        UPDATE deliveries SET reached = replace(reached, $2, $3)
        WHERE team_id = $1 AND strpos(reached, $2) > 0
        """,
        """
        UPDATE delivery_attempts SET error = replace(error, $2, $3), note = replace(note, $2, $3)
        WHERE team_id = $1 AND (strpos(error, $2) > 0 OR strpos(note, $2) > 0)
        """,
        """
        UPDATE timeline SET details = replace(details, $2, $3)
        WHERE team_id = $1 AND strpos(details, $2) > 0
        """,
        """
        UPDATE channel_faults SET last_error = replace(last_error, $2, $3)
        WHERE team_id = $1 AND strpos(last_error, $2) > 0
        """,
    ):
        await tx.execute(query, user.team_id, user.email, user.label)


def _without(value: Any, id_: str, nameless: dict[str, Any]) -> Any:
    """Return the JSON with *nameless* in place of each person with that id."""
    if isinstance(value, dict):
        if value.get("id") == id_:
            return nameless
        return {name: _without(each, id_, nameless) for name, each in value.items()}
    return [_without(each, id_, nameless) for each in value] if isinstance(value, list) else value
