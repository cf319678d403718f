"""Join tokens: created for a location, shown once, listed and deleted."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform import audit
from collector.platform.access import Actor
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db, Tx
from collector.platform.validation.validation import check
from collector.probes.core.authority import TrustedAuthorities
from collector.probes.service import authority
from collector.probes.storage import join_tokens as table
from collector.probes.storage.join_tokens import JoinTokenRow
from shared import ids, join_tokens
from shared.errors import NotFound
from shared.ids import uuid7
from shared.kinds.fields import ErrorText

WHAT = "Probe token"
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
MOST_USES = 1000
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=30)
USUAL_LIFE = timedelta(hours=1)
# How long expired tokens stay listed, so that unused ones can be noticed.
_SHOWN = timedelta(days=7)


def _is_slug(text: str) -> bool:
    return _SLUG.fullmatch(text) is not None


Location = Annotated[
    str, Predicate(_is_slug), ErrorText("must have 1 to 63 of a-z, 0-9 and -, and not begin with -")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTokenRequest:
    """A request for a token; *ttl* is in seconds."""

    locations: Annotated[tuple[Location, ...], MinLen(1), MaxLen(100)]
    """Locations for which probes may join."""
    uses: Annotated[int, Interval(ge=1, le=MOST_USES)] = 1
    """Number of probes that may join with it."""
    ttl: Annotated[int, Interval(ge=int(SHORTEST.total_seconds()), le=int(LONGEST.total_seconds()))] = int(
        USUAL_LIFE.total_seconds()
    )
    """Validity in seconds."""


@dataclass(frozen=True, slots=True)
class NewJoinToken:
    """A new token, its secret text, and the ignored fields of the request."""

    token: JoinTokenRow
    text: str
    unknown: list[str]


async def create(
    db: Db, keyring: Keyring, who: Actor, body: Mapping[str, Any], now: datetime
) -> NewJoinToken:
    """Create a token for probes that serve only this team. Raises Invalid."""
    values = dict(body)
    if "location" in values and "locations" not in values:
        values["locations"] = [values.pop("location")]
    request, unknown = check(JoinTokenRequest, values)
    trust = await authority.trust(db, keyring, now)
    async with db.transaction() as tx:
        token, text = await issue(
            tx,
            trust,
            team_id=who.team_id,
            locations=tuple(dict.fromkeys(request.locations)),
            now=now,
            uses=request.uses,
            life=timedelta(seconds=request.ttl),
        )
        await record(tx, who, "create", token)
    return NewJoinToken(token, text, unknown)


async def issue(
    tx: Tx,
    trust: TrustedAuthorities,
    *,
    team_id: int | None,
    locations: Sequence[str],
    now: datetime,
    uses: int = 1,
    life: timedelta = USUAL_LIFE,
    may_stand_in: bool = False,
) -> tuple[JoinTokenRow, str]:
    """Create a token; its text is not stored. *team_id* None: its probes serve every team."""
    fingerprint = trust.server_signer.fingerprint
    made = join_tokens.new(fingerprint)
    token = JoinTokenRow(uuid7(), team_id, locations, may_stand_in, uses, 0, now, now + life)
    await table.sweep(tx, now - _SHOWN)
    await table.insert(tx, token, hash_of(made.secret), fingerprint)
    return token, join_tokens.show(made)


async def list_(db: Db, team_id: int) -> list[JoinTokenRow]:
    async with db.connection() as tx:
        return await table.of_team(tx, team_id)


async def delete(db: Db, who: Actor, id_: UUID) -> None:
    """Delete a token; probes that joined with it stay. Raises NotFound."""
    async with db.transaction() as tx:
        if not await table.delete(tx, who.team_id, id_):
            raise NotFound(f"{WHAT} not found")
        await audit.record(tx, who, "delete", "probe-token", ids.show("tok", id_))


async def record(tx: Tx, who: Actor, action: str, token: JoinTokenRow) -> None:
    """Add an entry to the audit log."""
    named = f"for {', '.join(token.locations)}"
    await audit.record(tx, who, action, "probe-token", ids.show("tok", token.id), name=named)


def hash_of(secret: bytes) -> bytes:
    return hashlib.sha256(secret).digest()
