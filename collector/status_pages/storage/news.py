"""The queue of updates for subscribers; the database's clock decides what is due.

An attempt is counted before it is made, and leased. Only the leased attempt's result is recorded, and a
delivered letter is deleted: what is not in the queue is not sent again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from collector.platform.storage.db import Tx
from collector.status_pages.core.news import STALE, TRIES_IN_ORDER, Occasion, Topic
from collector.status_pages.core.status_page import Phase, Severity

Via = Literal["mail", "webhook"]

LEASE = timedelta(seconds=45)
# Updates handled at once; mails created at once per update, if fewer than _FEW are still unattempted.
_NEWS = 20
_CHUNK = 200
_FEW = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PageUpdate:
    """A queued update; *components*: the affected ones, empty: the whole page."""

    team_id: int
    id: UUID
    page_id: UUID
    update_id: UUID
    occasion: Occasion
    topic: Topic
    components: Sequence[UUID]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SubscriberDelivery:
    """An attempt to make now, with all data it needs; fields of the incident are None without *news_id*."""

    team_id: int
    id: UUID
    attempt: int
    subscriber_id: UUID
    news_id: UUID | None
    email: str | None = field(repr=False)
    sealed_hook: bytes | None = field(repr=False)
    link_key: bytes | None = field(repr=False)
    sealed_link_key: bytes | None = field(repr=False)
    verified_at: datetime | None
    asked_at: datetime | None
    language: str
    page_id: UUID
    page_name: str
    slug: str
    occasion: Occasion | None
    update_id: UUID | None
    phase: Phase | None
    message: str | None
    at: datetime | None
    incident_id: UUID | None
    title: str | None
    severity: Severity | None
    scheduled_start: datetime | None
    scheduled_end: datetime | None
    component_ids: Sequence[UUID]
    component_names: Sequence[str]


@dataclass(frozen=True, slots=True)
class SubscriberAttemptOutcome:
    """The result of an attempt; *wait* until the next one, None: delivered, or given up."""

    team_id: int
    id: UUID
    attempt: int
    wait: timedelta | None


# The subscribers `s` who receive update `n`; those who subscribed later saw it on the page.
_WANTS = """
    s.team_id = n.team_id AND s.page_id = n.page_id AND s.verified_at <= n.created_at
    AND coalesce((s.preferences ->> n.topic)::boolean, true)
    AND (s.components = '{}' OR n.components = '{}' OR s.components && n.components)
"""


async def add(tx: Tx, news: PageUpdate) -> None:
    """Queue an update: letters to webhooks are created at once, mails by `spread`."""
    await tx.execute(
        """
        INSERT INTO status_news (team_id, id, page_id, update_id, occasion, topic, components, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """,
        news.team_id, news.id, news.page_id, news.update_id, news.occasion, news.topic,
        list(news.components), news.created_at,
    )  # fmt: skip
    await tx.execute(
        f"""
        INSERT INTO status_letters (team_id, id, subscriber_id, news_id, via, due_at, created_at)
        SELECT s.team_id, gen_random_uuid(), s.id, n.id, 'webhook', now(), now()
        FROM status_news n JOIN status_subscribers s ON {_WANTS}
        WHERE n.team_id = $1 AND n.id = $2 AND s.sealed_hook IS NOT NULL
        """,
        news.team_id, news.id,
    )  # fmt: skip


async def ask(tx: Tx, team_id: int, subscriber_id: UUID) -> None:
    """Queue a mail about the subscription itself; until confirmed, it is the confirmation request."""
    await tx.execute(
        """
        INSERT INTO status_letters (team_id, id, subscriber_id, via, due_at, created_at)
        VALUES ($1, gen_random_uuid(), $2, 'mail', now(), now())
        """,
        team_id, subscriber_id,
    )  # fmt: skip


async def spread(tx: Tx) -> bool:
    """Create more mails of each page's oldest update while few are unattempted. Return whether any were."""
    rows = await tx.fetch(
        f"""
        WITH n AS (
            SELECT n.* FROM status_news n
            WHERE n.spread_at IS NULL
              AND NOT EXISTS (
                SELECT FROM status_news older
                WHERE older.team_id = n.team_id AND older.page_id = n.page_id
                  AND older.spread_at IS NULL AND older.id < n.id
              )
              AND $3 > (
                SELECT count(*) FROM (
                    SELECT FROM status_letters l
                    WHERE l.team_id = n.team_id AND l.news_id = n.id AND l.via = 'mail' AND l.attempt = 0
                    LIMIT $3
                ) AS fresh
              )
            ORDER BY n.id LIMIT $1 FOR UPDATE SKIP LOCKED
        ), chosen AS (
            SELECT n.team_id, n.id AS news_id, one.id AS subscriber_id FROM n CROSS JOIN LATERAL (
                SELECT s.id FROM status_subscribers s
                WHERE {_WANTS} AND s.email IS NOT NULL AND (n.reached IS NULL OR s.id > n.reached)
                ORDER BY s.id LIMIT $2
            ) AS one
        ), made AS (
            INSERT INTO status_letters (team_id, id, subscriber_id, news_id, via, due_at, created_at)
            SELECT team_id, gen_random_uuid(), subscriber_id, news_id, 'mail', now(), now() FROM chosen
        )
        UPDATE status_news SET
            reached = coalesce(far.reached, status_news.reached),
            spread_at = CASE WHEN far.count < $2 THEN now() END
        FROM (
            SELECT n.team_id, n.id, count(c.subscriber_id) AS count,
                   (array_agg(c.subscriber_id ORDER BY c.subscriber_id DESC))[1] AS reached
            FROM n LEFT JOIN chosen c ON c.team_id = n.team_id AND c.news_id = n.id
            GROUP BY n.team_id, n.id
        ) AS far
        WHERE status_news.team_id = far.team_id AND status_news.id = far.id
        RETURNING far.count
        """,
        _NEWS, _CHUNK, _FEW,
    )  # fmt: skip
    return any(row["count"] for row in rows)


async def claim(tx: Tx, via: Via, limit: int) -> list[SubscriberDelivery]:
    """Lease due letters: subscription mails first, then updates, in order for each subscriber."""
    rows = await tx.fetch(
        """
        WITH due AS (
            SELECT l.team_id, l.id FROM status_letters l
            WHERE l.via = $1 AND l.due_at <= now() AND NOT EXISTS (
                SELECT FROM status_letters older
                WHERE older.team_id = l.team_id AND older.subscriber_id = l.subscriber_id
                  AND older.news_id < l.news_id AND older.attempt < $3
            )
            ORDER BY (l.news_id IS NOT NULL), l.due_at LIMIT $2 FOR UPDATE OF l SKIP LOCKED
        ), claimed AS (
            UPDATE status_letters l SET attempt = l.attempt + 1, due_at = now() + $4
            FROM due WHERE l.team_id = due.team_id AND l.id = due.id
            RETURNING l.*
        )
        SELECT l.team_id, l.id, l.attempt, l.subscriber_id, l.news_id,
               s.email, s.sealed_hook, s.link_key, s.sealed_link_key, s.verified_at, s.asked_at, s.language,
               p.id AS page_id, p.name AS page_name, p.slug,
               n.occasion, u.id AS update_id, u.status AS phase, u.message, u.at,
               i.id AS incident_id, i.title, i.severity, i.scheduled_start, i.scheduled_end,
               coalesce(named.ids, '{}') AS component_ids, coalesce(named.names, '{}') AS component_names
        FROM claimed l
        JOIN status_subscribers s ON s.team_id = l.team_id AND s.id = l.subscriber_id
        JOIN status_pages p ON p.team_id = s.team_id AND p.id = s.page_id
        LEFT JOIN status_news n ON n.team_id = l.team_id AND n.id = l.news_id
        LEFT JOIN status_updates u ON u.team_id = n.team_id AND u.id = n.update_id
        LEFT JOIN status_incidents i ON i.team_id = u.team_id AND i.id = u.incident_id
        LEFT JOIN LATERAL (
            SELECT array_agg(c.id ORDER BY c.position, c.id) AS ids,
                   array_agg(c.name ORDER BY c.position, c.id) AS names
            FROM status_components c WHERE c.team_id = i.team_id AND c.id = ANY (i.components)
        ) AS named ON true
        ORDER BY (l.news_id IS NOT NULL), l.news_id, l.subscriber_id
        """,
        via, limit, TRIES_IN_ORDER, LEASE,
    )  # fmt: skip
    return [SubscriberDelivery(**row) for row in rows]


async def finish(tx: Tx, ended: Sequence[SubscriberAttemptOutcome]) -> None:
    """Record the results of attempts whose lease is still valid."""
    if not ended:
        return
    columns = (
        [one.team_id for one in ended],
        [one.id for one in ended],
        [one.attempt for one in ended],
        [one.wait for one in ended],
    )
    await tx.execute(
        """
        WITH done AS (
            SELECT * FROM unnest($1::int[], $2::uuid[], $3::smallint[], $4::interval[])
                AS u (team_id, id, attempt, wait)
        ), again AS (
            UPDATE status_letters l SET due_at = now() + done.wait FROM done
            WHERE l.team_id = done.team_id AND l.id = done.id AND l.attempt = done.attempt
              AND done.wait IS NOT NULL
        )
        DELETE FROM status_letters l USING done
        WHERE l.team_id = done.team_id AND l.id = done.id AND l.attempt = done.attempt AND done.wait IS NULL
        """,
        *columns,
    )


async def forget(tx: Tx) -> int:
    """Drop stale updates and letters. Return the number of deleted letters."""
    await tx.execute(
        """
        UPDATE status_news SET spread_at = now()
        WHERE spread_at IS NULL AND created_at < now() - $1::interval
        """,
        STALE,
    )
    gone = await tx.fetch(
        "DELETE FROM status_letters WHERE created_at < now() - $1::interval RETURNING id", STALE
    )
    return len(gone)
