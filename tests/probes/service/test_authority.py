"""One authority a deployment, its key sealed; its successor takes over without a gap."""

import asyncio
from datetime import timedelta

import pytest
from cryptography import x509

from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.probes.core import authority as rules
from collector.probes.core.authority import TrustedAuthorities
from collector.probes.service import authority
from collector.probes.storage import authorities
from shared import pki
from shared.clock import utc_now
from shared.ids import uuid7
from shared.tokens import new_key

pytestmark = pytest.mark.races

NOW = utc_now()


def prints(trust: TrustedAuthorities) -> list[bytes]:
    return [authority.fingerprint for authority in trust.authorities]


def certificate(trust: TrustedAuthorities) -> x509.Certificate:
    key = pki.new_key().public_key()
    return rules.probe_certificate(trust.probe_signer(NOW), key, uuid7(), ["eu"], NOW)


async def test_collectors_that_start_together_make_one_authority(db: Db) -> None:
    keyring = Keyring.parse(new_key())
    async with asyncio.timeout(30):
        found = await asyncio.gather(*[authority.trust(db, keyring, NOW) for _ in range(4)])

    assert len({tuple(prints(authorities)) for authorities in found}) == 1
    assert len(found[0].authorities) == 1
    assert found[0].signed(certificate(found[3]))


async def test_its_key_lies_sealed_in_the_database(db: Db) -> None:
    keyring = Keyring.parse(new_key())
    trust = await authority.trust(db, keyring, NOW)

    async with db.connection() as tx:
        [row] = await authorities.all_(tx)
    plain = pki.key_pem(trust.server_signer.key)
    assert plain not in row.sealed_key
    assert trust.server_signer.key.private_numbers().private_value.to_bytes(32) not in row.sealed_key


async def test_a_certificate_of_another_deployment_is_not_ours(db: Db) -> None:
    trust = await authority.trust(db, Keyring.parse(new_key()), NOW)

    assert not trust.signed(certificate(TrustedAuthorities([rules.new(NOW)])))


async def test_the_newcomers_own_signature_makes_no_certificate_ours(db: Db) -> None:
    trust = await authority.trust(db, Keyring.parse(new_key()), NOW)
    anchor = x509.load_pem_x509_certificate(pki.NEWCOMER)
    everybodys = rules.Authority(anchor, pki.read_key(pki.newcomer_key()), NOW)

    assert not trust.signed(certificate(TrustedAuthorities([everybodys])))
    assert not trust.signed(anchor)


async def test_before_its_end_an_authority_is_followed_by_another_and_both_are_trusted(db: Db) -> None:
    keyring = Keyring.parse(new_key())
    old = await authority.trust(db, keyring, NOW)
    late = NOW + rules.LIFE - rules.SUCCEEDED + timedelta(days=1)

    both = await authority.trust(db, keyring, late)

    assert len(both.authorities) == 2
    assert both.server_signer.fingerprint == old.server_signer.fingerprint
    assert both.probe_signer(late).fingerprint == old.server_signer.fingerprint
    assert both.probe_signer(late + rules.SETTLED).fingerprint == both.authorities[1].fingerprint
    assert prints(await authority.trust(db, keyring, late)) == prints(both)


async def test_the_older_one_goes_when_no_certificate_of_it_can_be_alive(db: Db) -> None:
    keyring = Keyring.parse(new_key())
    await authority.trust(db, keyring, NOW)
    async with db.transaction() as tx:
        await authority.add(tx, keyring, NOW + timedelta(seconds=1))

    both = await authority.trust(db, keyring, NOW + rules.PROBE_LIFE)
    authorities = await authority.trust(db, keyring, NOW + rules.PROBE_LIFE + 2 * rules.SETTLED)

    assert prints(authorities) == prints(both)[1:]
