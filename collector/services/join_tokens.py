"""Join tokens: made for a location, told once, listed and deleted."""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from collector.core.authority import Trust
from collector.storage import join_tokens as table
from collector.storage.db import Db, Tx
from collector.storage.join_tokens import JoinToken
from shared import join_tokens
from shared.errors import NotFound
from shared.ids import uuid7

WHAT = "Probe token"
MOST_USES = 1000
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=30)
USUAL_LIFE = timedelta(hours=1)
# Long enough for who lists them to see that one was not used.
_SHOWN = timedelta(days=7)


async def issue(
    tx: Tx,
    trust: Trust,
    *,
    team_id: int | None,
    locations: Sequence[str],
    now: datetime,
    uses: int = 1,
    life: timedelta = USUAL_LIFE,
    may_stand_in: bool = False,
) -> tuple[JoinToken, str]:
    """Make a token; its text is nowhere else. *team_id* None: its probes serve every team."""
    fingerprint = trust.server_signer.fingerprint
    made = join_tokens.new(fingerprint)
    token = JoinToken(uuid7(), team_id, locations, may_stand_in, uses, 0, now, now + life)
    await table.sweep(tx, now - _SHOWN)
    await table.insert(tx, token, hash_of(made.secret), fingerprint)
    return token, join_tokens.show(made)


async def list_(db: Db, team_id: int) -> list[JoinToken]:
    async with db.connection() as tx:
        return await table.of_team(tx, team_id)


async def delete(db: Db, team_id: int, id_: UUID) -> None:
    """The token joins nobody any more; probes that it made stay."""
    async with db.transaction() as tx:
        if not await table.delete(tx, team_id, id_):
            raise NotFound(f"{WHAT} not found")


def hash_of(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
