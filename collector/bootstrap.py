"""The first start: creates a team, its admin and a token. Each start checks that the secret key fits."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from collector.accounts.service import tokens
from collector.accounts.storage import teams
from collector.platform.access import Permission
from collector.platform.seal import Keyring, SealScope, Unsealable
from collector.platform.storage import sealed, secret_keys
from collector.platform.storage.db import Db
from shared.errors import BadSettings, CannotStart
from shared.ids import uuid7

_PROOF = b"tocsin"


@dataclass(frozen=True, slots=True)
class FirstStart:
    """What the first start created; *token* is shown once and not stored here."""

    team_id: int
    user_id: UUID
    token: str


async def bootstrap(
    db: Db, *, plan: str, admin_email: str, token: str | None, now: datetime
) -> FirstStart | None:
    """Create team, admin and admin token if the database is new, else return None. Raises BadSettings."""
    if token is not None and not tokens.plausible(token):
        raise BadSettings(
            "TOCSIN_BOOTSTRAP_TOKEN: 16 to 512 characters; one that starts with tocsin_ must be whole"
        )
    async with db.transaction() as tx:
        await teams.lock(tx)
        if await teams.exist(tx):
            return None
        team_id = await teams.insert(tx, uuid7(), "Default", plan, now)
        user_id = uuid7()
        await teams.insert_user(tx, team_id, user_id, admin_email, "Admin", "admin", now)
        value = await tokens.issue(
            tx,
            team_id=team_id,
            user_id=user_id,
            name="first start",
            permission=Permission.ADMIN,
            now=now,
            value=token,
        )
    return FirstStart(team_id, user_id, value)


async def check_keys(db: Db, keyring: Keyring, now: datetime, source: str = "TOCSIN_SECRET_KEY") -> None:
    """Check that all keys that the database needs are available, and record the current sealing key.

    Raises CannotStart with the ids of the missing keys and the *source* of the available ones.
    """
    async with db.transaction() as tx:
        await secret_keys.lock(tx)
        proofs = await secret_keys.proofs(tx)
        missing = {kid for kid, proof in proofs.items() if not _opens(keyring, kid, proof)}
        # A collector still running with an older key may have sealed values after that key was deleted.
        missing |= await sealed.keys(tx) - {kid.hex() for kid in keyring.keys}
        if missing:
            named = ", ".join(sorted(missing))
            raise CannotStart(f"{source} lacks what this database is encrypted with: key {named}")
        first = keyring.first.hex()
        if await secret_keys.newest(tx) != first:
            await secret_keys.take_up(tx, first, keyring.seal(_PROOF, _place(first)), now)


def _opens(keyring: Keyring, kid: str, proof: bytes) -> bool:
    try:
        return keyring.open(proof, _place(kid)) == _PROOF
    except Unsealable:
        return False


def _place(kid: str) -> SealScope:
    return SealScope(0, "secret_keys", kid, "proof")
