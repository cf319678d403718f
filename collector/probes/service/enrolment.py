"""Enrols a probe by a join token, and renews its certificate."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric import ec

from collector.platform import audit
from collector.platform.access import DEPLOYMENT, Actor
from collector.platform.storage.db import Db, Tx
from collector.probes.core import authority as rules
from collector.probes.core.authority import TrustedAuthorities
from collector.probes.service.join_tokens import hash_of
from collector.probes.storage import enrolments, join_tokens
from collector.probes.storage.enrolments import Enrolled, IssuedCertificate
from collector.probes.storage.join_tokens import JoinTokenRow
from shared import ids, pki
from shared.clock import iso
from shared.errors import Forbidden, Unauthorized
from shared.ids import uuid7

_MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate, and all authorities that the probe must trust; both PEM."""

    probe_id: UUID
    certificate: bytes
    bundle: bytes


async def enrol(
    db: Db,
    trust: TrustedAuthorities,
    *,
    secret: bytes,
    csr: bytes,
    name: str,
    locations: Sequence[str],
    now: datetime,
) -> Issued:
    """A certificate for the key in *csr*; while the token is valid, the same key gets the same probe again.

    Raises Unauthorized for an invalid or expired token, Forbidden for one that is not for this probe,
    Invalid for a malformed request.
    """
    async with db.transaction() as tx:
        token = await join_tokens.lock(tx, hash_of(secret))
        if token is None:
            raise Unauthorized("no such join token: it was deleted, or made for another deployment")
        if now >= token.expires_at:
            raise Unauthorized(f"this join token expired at {iso(token.expires_at)}")
        _demand_same(token.locations, locations)
        key = rules.requested_key(csr)
        first = await _use(tx, token, pki.key_hash(key), now)
        probe = await _probe(tx, token, pki.key_hash(key))
        await enrolments.put(tx, probe, name=_clean(name), may_stand_in=token.may_stand_in, now=now)
        if first:
            await _record(tx, token, probe, _clean(name))
        return await _issue(tx, trust, probe, key, now)


async def renew(db: Db, trust: TrustedAuthorities, *, probe_id: UUID, csr: bytes, now: datetime) -> Issued:
    """A certificate for another day. Raises Unauthorized, Forbidden and Invalid."""
    async with db.transaction() as tx:
        probe = await enrolments.one(tx, probe_id)
        if probe is None:
            raise Unauthorized("this probe is not known here; it needs a join token")
        _demand_unrevoked(probe)
        key = rules.requested_key(csr)
        if pki.key_hash(key) != probe.key_hash:
            raise Forbidden("this probe was enrolled with another key")
        return await _issue(tx, trust, probe, key, now)


async def _use(tx: Tx, token: JoinTokenRow, key_hash: bytes, now: datetime) -> bool:
    """Use the token; False if the same key used it before, because its answer was lost or late."""
    if await join_tokens.used_by(tx, token.id, key_hash):
        return False
    if token.used >= token.uses:
        raise Forbidden("this join token was used already, by a probe with another key")
    await join_tokens.use(tx, token.id, key_hash, now)
    return True


async def _record(tx: Tx, token: JoinTokenRow, probe: Enrolled, name: str) -> None:
    team_id = DEPLOYMENT if token.team_id is None else token.team_id
    by = Actor(team_id, ids.show("tok", token.id), "Join token", "system")
    await audit.record(tx, by, "enrol", "probe", ids.show("prb", probe.probe_id), name=name)


async def _probe(tx: Tx, token: JoinTokenRow, key_hash: bytes) -> Enrolled:
    """The probe to enrol with *token*: a new one, or the one with this key, with the token's settings."""
    known = await enrolments.with_key(tx, key_hash)
    if known is not None:
        _demand_unrevoked(known)
        if known.team_id != token.team_id:
            raise Forbidden("this probe belongs to somebody else than the join token")
    return Enrolled(
        probe_id=known.probe_id if known else uuid7(),
        team_id=token.team_id,
        locations=token.locations,
        key_hash=key_hash,
        revoked_at=None,
    )


async def _issue(
    tx: Tx, trust: TrustedAuthorities, probe: Enrolled, key: ec.EllipticCurvePublicKey, now: datetime
) -> Issued:
    signer = trust.probe_signer(now)
    made = rules.probe_certificate(signer, key, probe.probe_id, probe.locations, now)
    await enrolments.note(
        tx,
        IssuedCertificate(
            pki.serial(made), probe.probe_id, signer.fingerprint, now, made.not_valid_after_utc
        ),
    )
    return Issued(probe.probe_id, pki.pem(made), trust.bundle)


def _demand_same(allowed: Collection[str], asked: Collection[str]) -> None:
    if asked and set(asked) != set(allowed):
        raise Forbidden(f"this join token is for {', '.join(allowed)}, not for {', '.join(asked)[:200]}")


def _demand_unrevoked(probe: Enrolled) -> None:
    if probe.revoked_at is not None:
        raise Forbidden(f"this probe was revoked at {iso(probe.revoked_at)}")


def _clean(name: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in name).strip()
    return shown[:_MAX_NAME] or "probe"
