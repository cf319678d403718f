"""The certificate authority in the database: created once, rotated, its key sealed."""

from datetime import datetime

from cryptography import x509

from collector.platform.seal import Keyring, SealScope
from collector.platform.storage.db import Db, Tx
from collector.probes.core import authority as rules
from collector.probes.core.authority import Authority, TrustedAuthorities
from collector.probes.storage import authorities
from collector.probes.storage.authorities import AuthorityRow
from shared import pki


async def trust(db: Db, keyring: Keyring, now: datetime) -> TrustedAuthorities:
    """The current authorities; creates the first one, and a successor when one is due.

    Raises Unsealable if their key is sealed with a missing key.
    """
    async with db.connection() as tx:
        rows = await authorities.all_(tx)
    current = _trust(rows, keyring)
    if len(rows) == 1 and not rules.outlived(current.authorities[-1], now):
        return current
    async with db.transaction() as tx:
        return await _settle(tx, keyring, now)


async def _settle(tx: Tx, keyring: Keyring, now: datetime) -> TrustedAuthorities:
    """Of several collectors that find none, or an outlived one, only one creates the next."""
    await authorities.lock(tx)
    # An authority stays as long as one of its certificates may be valid.
    await authorities.drop_unused(tx, now - rules.SETTLED - rules.PROBE_LIFE, now)
    rows = await authorities.all_(tx)
    if not rows or rules.outlived(_opened(rows[-1], keyring), now):
        rows.append(await add(tx, keyring, now))
    return _trust(rows, keyring)


async def add(tx: Tx, keyring: Keyring, now: datetime) -> AuthorityRow:
    """Create an authority, valid from *now*; the caller must hold the lock."""
    made = rules.new(now)
    print_ = made.fingerprint
    row = AuthorityRow(
        fingerprint=print_,
        certificate=pki.der(made.certificate),
        sealed_key=keyring.seal(pki.key_pem(made.key), _place(print_)),
        created_at=now,
        not_after=made.certificate.not_valid_after_utc,
    )
    await authorities.insert(tx, row)
    return row


def _trust(rows: list[AuthorityRow], keyring: Keyring) -> TrustedAuthorities:
    return TrustedAuthorities([_opened(row, keyring) for row in rows])


def _opened(row: AuthorityRow, keyring: Keyring) -> Authority:
    key = pki.read_key(keyring.open(row.sealed_key, _place(row.fingerprint)))
    return Authority(x509.load_der_x509_certificate(row.certificate), key, row.created_at)


def _place(fingerprint: bytes) -> SealScope:
    return SealScope(0, "authorities", fingerprint.hex(), "sealed_key")
