"""Console sessions: create one for a browser, look it up by its cookie, end it."""

import hmac
import re
import secrets
from datetime import datetime
from typing import Final
from uuid import UUID

from collector.accounts.storage import console_sessions as table
from collector.accounts.storage import users
from collector.accounts.storage.console_sessions import ConsoleSession, ListedSession
from collector.console import session
from collector.console.display import stored
from collector.console.visitor import Browser, Visitor
from collector.platform import audit
from collector.platform.access import Actor, counts
from collector.platform.batched_reads import Lookups
from collector.platform.secret_hash import secret_hash
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.errors import NotFound
from shared.ids import uuid7

WHAT: Final = "Session"
_COOKIE: Final = re.compile(r"[\w-]{43}", re.ASCII)
_AGENT: Final = 300
# How a session began that the sign-in provider vouched for.
BY_PROVIDER: Final = "provider"


class SessionFinder:
    """Finds sessions for requests. None is cached: an ended session is refused at once, everywhere."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._lookups = Lookups(db, table.with_hashes)

    async def find(self, cookie: str, now: datetime) -> Visitor | None:
        """Return the visitor whose session the cookie opens, if it is alive. Raises Unavailable."""
        if not _COOKIE.fullmatch(cookie):
            return None
        hash_ = secret_hash(cookie)
        console_session = await self._lookups.find(hash_)
        if (
            console_session is None
            or not hmac.compare_digest(console_session.hash, hash_)
            or not _lives(console_session, now)
        ):
            return None
        if now - console_session.seen_at >= session.NOTED_EVERY:
            async with self._db.transaction() as tx:
                await table.see(tx, console_session.team_id, console_session.id, now)
        return _visitor(console_session)

    async def close(self) -> None:
        await self._lookups.close()


async def open_(
    tx: Tx,
    team_id: int,
    user_id: UUID,
    browser: Browser,
    now: datetime,
    *,
    name: str,
    by: str,
    token_id: UUID | None = None,
) -> str:
    """Open a session and return its cookie, which is stored nowhere; *by*: the method of sign-in."""
    cookie, id_ = secrets.token_urlsafe(32), uuid7()
    await users.note_sign_in(tx, team_id, user_id, now)
    await table.sweep(tx, team_id, now, session.IDLE)
    await table.insert(
        tx,
        team_id,
        id_,
        user_id,
        token_id,
        secret_hash(cookie),
        now,
        now + session.LIFE,
        browser.address,
        browser.agent[:_AGENT],
        by_provider=by == BY_PROVIDER,
    )
    who = Actor(
        team_id,
        ids.show("usr", user_id),
        name,
        token_id=token_id,
        address=browser.address,
        request_id=browser.request_id,
    )
    await audit.record(tx, who, "sign-in", "session", ids.show("ses", id_), name=by)
    return cookie


async def of(db: Db, visitor: Visitor, now: datetime) -> list[ListedSession]:
    """Return the visitor's own sessions, the last used first."""
    async with db.connection() as tx:
        return await table.of_user(tx, visitor.team_id, visitor.user_id, now, session.IDLE)


async def end(db: Db, who: Actor, user_id: UUID, id_: UUID) -> None:
    """Sign one browser of the user out. Raises NotFound."""
    async with db.transaction() as tx:
        if not await table.end(tx, who.team_id, user_id, id_):
            raise NotFound(f"{WHAT} not found")
        await audit.record(tx, who, "sign-out", "session", ids.show("ses", id_))


async def end_all(db: Db, who: Actor, user_id: UUID, but: UUID | None = None) -> None:
    """Sign the user out everywhere, except for the session *but*."""
    async with db.transaction() as tx:
        await table.end_all(tx, who.team_id, user_id, but)
        await audit.record(tx, who, "sign-out-everywhere", "user", ids.show("usr", user_id))


def _lives(row: ConsoleSession, now: datetime) -> bool:
    if not session.alive(row.seen_at, row.ends_at, now):
        return False
    if row.token_id is None:
        return True
    return row.token_permission is not None and counts(row.expires_at, row.revoked_at, now)


def _visitor(row: ConsoleSession) -> Visitor:
    return Visitor(
        team_id=row.team_id,
        session_id=row.id,
        user_id=row.user_id,
        token_id=row.token_id,
        name=row.name,
        email=row.email,
        role=row.role,
        team=row.team_name,
        plan=row.plan,
        permission=session.permission(row.role, row.token_permission),
        ends_at=row.ends_at,
        display=stored(row.display),
        lacks_second_factor=row.lacks_second_factor,
    )
