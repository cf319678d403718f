"""Who may come in: join tokens, certificates and their ends, over the real link to a real collector."""

import asyncio
import re
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from structlog.testing import capture_logs

from collector.platform.access import operator, system
from collector.platform.storage.db import Db
from collector.probes.core import authority as rules
from collector.probes.service import authority, enrolment, join_tokens, probes
from probe.link import credentials as files
from probe.link.credentials import Credentials
from probe.link.enrol import CredentialKeeper
from shared import certificates, pki
from shared import join_tokens as shared_tokens
from shared.clock import utc_now
from shared.errors import BadSettings, CannotStart, Forbidden
from shared.wire.v1 import probe_pb2, probe_pb2_grpc
from tests.pki import certified, channel
from tests.probes.peer import (
    Collector,
    Peer,
    collecting,
    connected,
    dialled,
    enrolled,
    hello,
    identity,
    refusal,
)

pytestmark = pytest.mark.races

DAY = timedelta(days=1)
JOINING_S = 60.0


@pytest.fixture
async def collector(db: Db) -> AsyncIterator[Collector]:
    async with collecting(db) as one:
        yield one


async def token_of(collector: Collector, *locations: str, **what: Any) -> str:
    what.setdefault("team_id", None)
    what.setdefault("now", utc_now())
    async with collector.db.transaction() as tx:
        _, text = await join_tokens.issue(
            tx, collector.credentials.trust, locations=locations or ("eu",), **what
        )
    return text


def keeper(
    collector: Collector, home: Path, token: str | None, *locations: str, later: timedelta = timedelta()
) -> CredentialKeeper:
    return CredentialKeeper(
        home,
        [f"127.0.0.1:{collector.port}"],
        token=token,
        locations=locations,
        now=lambda: utc_now() + later,
    )


async def joined(collector: Collector, home: Path, *locations: str) -> Credentials:
    mine = keeper(collector, home, await token_of(collector, *locations))
    await mine.begin()
    return mine.current


def said_by(mine: Credentials) -> probe_pb2.Hello:
    return hello(probe_id=mine.passport.probe_id.bytes, locations=list(mine.passport.locations))


async def test_with_a_token_a_probe_gets_the_certificate_that_its_sessions_need(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path, "eu", "us")

    assert list(mine.passport.locations) == ["eu", "us"]
    async with dialled(collector, mine) as (stream, _):
        await stream.write(probe_pb2.FromProbe(sent_us=1, hello=said_by(mine)))
        assert (await stream.read()).HasField("welcome")
        await stream.done_writing()


async def test_key_and_certificate_are_for_the_probes_eyes_only_and_serve_the_next_start(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    again = keeper(collector, tmp_path, None)
    await again.begin()

    assert again.current == mine
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert {path.name for path in tmp_path.iterdir()} == {"key.pem", "certificate.pem", "passport.json"}


async def test_a_token_joins_one_probe_only(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector)
    await keeper(collector, tmp_path / "one", token).begin()

    with pytest.raises(CannotStart, match="used already"):
        await keeper(collector, tmp_path / "other", token).begin()


async def test_of_two_probes_that_use_a_token_at_once_one_joins(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector)
    ends = await asyncio.gather(
        *[keeper(collector, tmp_path / name, token).begin() for name in "abcd"], return_exceptions=True
    )

    assert len([end for end in ends if end is None]) == 1
    assert len([end for end in ends if isinstance(end, CannotStart)]) == 3


async def test_a_lost_answer_is_had_again_with_the_same_key(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector)
    first = keeper(collector, tmp_path, token)
    await first.begin()
    (tmp_path / "certificate.pem").unlink()

    again = keeper(collector, tmp_path, token)
    await again.begin()

    assert again.current.passport.probe_id == first.current.passport.probe_id
    assert again.current.passport.serial != first.current.passport.serial
    assert len(await collector.fetch("SELECT FROM probes")) == 1


async def test_a_token_for_two_joins_two(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector, uses=2)
    both = [keeper(collector, tmp_path / name, token) for name in ("one", "other")]
    for one in both:
        await one.begin()

    assert len({one.current.passport.probe_id for one in both}) == 2


@pytest.mark.parametrize(
    ("what", "locations", "word"),
    [
        pytest.param({"now": utc_now() - 2 * DAY}, (), "expired", id="expired"),
        pytest.param({}, ("us",), "is for eu, not for us", id="for another location"),
    ],
)
async def test_a_token_that_is_not_for_this_probe_now_is_refused_in_words(
    collector: Collector, tmp_path: Path, what: dict[str, Any], locations: Sequence[str], word: str
) -> None:
    with pytest.raises(CannotStart, match=word):
        await keeper(collector, tmp_path, await token_of(collector, **what), *locations).begin()
    assert await collector.fetch("SELECT FROM probes") == []


async def test_the_secret_is_not_told_to_a_server_of_another_deployment(
    collector: Collector, tmp_path: Path
) -> None:
    async with collector.db.transaction() as tx:
        foreign = rules.TrustedAuthorities([rules.new(utc_now())])
        _, token = await join_tokens.issue(tx, foreign, team_id=None, locations=["eu"], now=utc_now())

    with pytest.raises(CannotStart, match="not of the deployment"):
        await keeper(collector, tmp_path, token).begin()
    assert await collector.fetch("SELECT FROM join_token_uses") == []


async def test_only_hashes_of_tokens_are_kept(collector: Collector) -> None:
    text = await token_of(collector)
    [row] = await collector.fetch("SELECT t::text AS row FROM join_tokens t")

    assert text not in row["row"]
    assert text.removeprefix("tocsin_join_")[:20] not in row["row"]


def request_of(key: Any) -> bytes:
    """A request in which somebody signs with a key of another sort."""
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, algorithm)
    return made.public_bytes(serialization.Encoding.DER)


@pytest.mark.parametrize(
    "csr",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"x" * 5000, id="noise"),
        pytest.param(pki.NEWCOMER, id="a certificate"),
        pytest.param(pki.request(pki.new_key())[:-1] + b"\0", id="signed by somebody else"),
        pytest.param(request_of(ed25519.Ed25519PrivateKey.generate()), id="of another kind of key"),
        pytest.param(request_of(ec.generate_private_key(ec.SECP384R1())), id="on another curve"),
    ],
)
async def test_a_request_that_is_none_uses_up_no_token(collector: Collector, csr: bytes) -> None:
    secret = secret_of(await token_of(collector))
    nobody = newcomer(collector)
    async with channel(collector.port, nobody) as link:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await probe_pb2_grpc.EnrolmentStub(link).Enrol(  # type: ignore[no-untyped-call]
                probe_pb2.EnrolRequest(secret=secret, csr=csr)
            )

    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert await collector.fetch("SELECT FROM join_token_uses") == []


async def test_a_newcomer_gets_no_session_and_no_renewal(collector: Collector) -> None:
    code, why = await refusal(collector, hello(), newcomer(collector))
    async with channel(collector.port, newcomer(collector)) as link:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await probe_pb2_grpc.EnrolmentStub(link).Renew(  # type: ignore[no-untyped-call]
                probe_pb2.RenewRequest(csr=pki.request(pki.new_key()))
            )

    assert code is caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert "join with a token" in why


async def test_a_name_that_the_newcomers_key_signed_opens_nothing(collector: Collector) -> None:
    """TLS lets it in, as the key that everybody has is trusted there; the collector does not."""
    said = hello()
    await enrolled(collector, said)
    everybodys = rules.Authority(
        x509.load_pem_x509_certificate(pki.NEWCOMER), pki.read_key(pki.newcomer_key()), utc_now()
    )
    forged = certified(rules.TrustedAuthorities([everybodys]), probe_id=identity(said))
    bundle = collector.credentials.trust.bundle

    code, _ = await refusal(
        collector, said, Credentials(forged.key, forged.certificate, bundle, forged.passport)
    )

    assert code is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("fault", ["foreign", "expired"])
async def test_a_certificate_that_does_not_count_makes_no_connection(
    collector: Collector, fault: str
) -> None:
    said = hello()
    await enrolled(collector, said)
    trust = collector.credentials.trust
    bad = (
        certified(rules.TrustedAuthorities([rules.new(utc_now())]), probe_id=identity(said))
        if fault == "foreign"
        else certified(trust, probe_id=identity(said), now=utc_now() - 2 * DAY)
    )

    assert await is_kept_out(collector, Credentials(bad.key, bad.certificate, trust.bundle, bad.passport))


async def test_a_certificate_of_a_probe_that_is_not_known_is_refused(collector: Collector) -> None:
    mine = certified(collector.credentials.trust)

    code, why = await refusal(collector, said_by(mine), mine)

    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert "needs a join token" in why


async def test_two_thirds_into_its_life_the_certificate_is_renewed_and_the_stream_stays(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    async with dialled(collector, mine) as (stream, _):
        await stream.write(probe_pb2.FromProbe(sent_us=1, hello=said_by(mine)))
        assert (await stream.read()).HasField("welcome")
        early, due = (
            keeper(collector, tmp_path, None, later=later)
            for later in (timedelta(hours=14), timedelta(hours=17))
        )
        for one in (early, due):
            await one.begin()
            await one.turn()
        await collector.sessions.turn()
        await stream.done_writing()
        while (message := await stream.read()) is not grpc.aio.EOF:
            assert message.HasField("plan")

    assert early.current == mine
    assert due.current.passport.serial != mine.passport.serial
    assert due.current.passport.probe_id == mine.passport.probe_id
    assert due.current == files.load(tmp_path)


async def test_a_revoked_probe_is_renewed_no_more_and_cannot_come_back_with_its_key(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    await collector.fetch("UPDATE probes SET revoked_at = now()")
    old = keeper(collector, tmp_path, None, later=timedelta(hours=20))
    await old.begin()
    await old.turn()
    (tmp_path / "certificate.pem").unlink()

    assert old.current == mine
    with pytest.raises(CannotStart, match="revoked"):
        await keeper(collector, tmp_path, await token_of(collector)).begin()


async def test_who_lost_its_certificate_to_time_joins_again_as_the_same_probe(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    with pytest.raises(CannotStart, match="expired"):
        await keeper(collector, tmp_path, None, later=2 * DAY).begin()

    late = keeper(collector, tmp_path, await token_of(collector), later=2 * DAY)
    await late.begin()

    assert late.current.passport.probe_id == mine.passport.probe_id


async def test_another_location_than_the_certificates_needs_a_token_for_it(
    collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    with pytest.raises(BadSettings, match="is for eu"):
        await keeper(collector, tmp_path, None, "us").begin()

    moved = keeper(collector, tmp_path, await token_of(collector, "us"), "us")
    await moved.begin()

    assert moved.current.passport.probe_id == mine.passport.probe_id
    [row] = await collector.fetch("SELECT locations FROM probes")
    assert row["locations"] == ["us"]


async def test_a_key_of_one_team_does_not_join_another(collector: Collector) -> None:
    csr, trust = pki.request(pki.new_key()), collector.credentials.trust
    for team_id in (None, collector.team_id):
        secret = secret_of(await token_of(collector, team_id=team_id))
        joining = enrolment.enrol(
            collector.db, trust, secret=secret, csr=csr, name="n", locations=[], now=utc_now()
        )
        if team_id is None:
            await joining
        else:
            with pytest.raises(Forbidden, match="somebody else"):
                await joining


async def test_a_deleted_token_joins_nobody(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector, team_id=collector.team_id)
    [known] = await join_tokens.list_(collector.db, collector.team_id)
    await join_tokens.delete(collector.db, system(collector.team_id), known.id)

    with capture_logs() as logs:
        joining = asyncio.wait_for(keeper(collector, tmp_path, token).begin(), JOINING_S)
        [end] = await asyncio.gather(joining, return_exceptions=True)

    # A status may lose its details on the way: the collector's log has the reason in any case.
    text = "\n".join([repr(end), *map(str, logs)])
    assert isinstance(end, CannotStart), text
    assert re.search("no such join token|UNAUTHENTICATED$", str(end)), text
    assert any(line.get("reason", "").startswith("no such join token") for line in logs), text
    assert not (tmp_path / "certificate.pem").exists()
    assert await collector.fetch("SELECT FROM probes") == []


async def test_revoking_cuts_a_live_stream_at_another_collector(db: Db, collector: Collector) -> None:
    said = hello()
    async with connected(collector, said) as peer, collecting(db) as other:
        await probes.revoke(db, operator(), identity(said), utc_now())
        other.signals.ring()
        code, why = await peer.ended()

    assert code is grpc.StatusCode.PERMISSION_DENIED
    assert "was revoked" in why


@pytest.mark.oldest
async def test_a_stream_ends_with_its_certificate_unless_that_was_renewed(
    db: Db, collector: Collector, tmp_path: Path
) -> None:
    mine = await joined(collector, tmp_path)
    later = utc_now() + DAY + timedelta(hours=1)
    async with connected_as(collector, mine) as peer:
        collector.sessions._now = lambda: later
        await renewed(collector, mine, later - timedelta(hours=2))
        await collector.sessions.turn()
        await peer.say(vitals=probe_pb2.Vitals(started=1))
        await asyncio.sleep(0)
        await collector.sessions.turn()
        later += DAY
        await collector.sessions.turn()
        code, why = await peer.ended()

    assert code is grpc.StatusCode.UNAUTHENTICATED
    assert "expired" in why


async def test_a_clone_is_refused_and_the_original_stays(collector: Collector, tmp_path: Path) -> None:
    mine = await joined(collector, tmp_path)
    async with connected_as(collector, mine) as peer:
        there = said_by(mine)
        there.boot_id = "another machine"
        code, why = await refusal(collector, there, mine)
        await peer.say(vitals=probe_pb2.Vitals(started=1))
        await collector.sessions.turn()
        assert [row["ended_at"] for row in await collector.fetch("SELECT ended_at FROM probes")] == [None]

    assert code is grpc.StatusCode.ALREADY_EXISTS
    assert "clone" in why


async def test_an_authority_is_followed_by_another_without_a_gap(
    collector: Collector, tmp_path: Path
) -> None:
    """Of two probes one renews after the change and one does not: both can connect at every moment."""
    old, new = await joined(collector, tmp_path / "old"), await joined(collector, tmp_path / "new")
    await collector.fetch("UPDATE authorities SET created_at = created_at - interval '1 hour'")
    async with collector.db.transaction() as tx:
        await authority.add(tx, collector.keyring, utc_now() - rules.SETTLED)
    await collector.credentials.turn()
    both = collector.credentials.trust
    late = keeper(collector, tmp_path / "new", None, later=timedelta(hours=17))
    await late.begin()
    await late.turn()

    assert len(both.authorities) == 2
    assert late.current.passport.serial != new.passport.serial
    assert certificates.fingerprints(late.current.bundle) == [one.fingerprint for one in both.authorities]
    for mine in (old, late.current):
        async with connected_as(collector, mine):
            pass
    # The older one is gone: who renewed goes on, and a connection is made with the newer one alone.
    await collector.fetch("DELETE FROM authorities WHERE fingerprint = $1", both.authorities[0].fingerprint)
    await collector.credentials.turn()
    async with connected_as(collector, late.current):
        pass
    assert await is_kept_out(collector, old)


@asynccontextmanager
async def connected_as(collector: Collector, mine: Credentials) -> AsyncIterator[Peer]:
    """A session of that probe that was welcomed."""
    async with dialled(collector, mine) as (stream, link):
        await stream.write(probe_pb2.FromProbe(sent_us=1, hello=said_by(mine)))
        async with asyncio.timeout(20):
            first = await stream.read()
        yield Peer(stream, link, first.welcome)
        if not stream.done():
            await stream.done_writing()


async def is_kept_out(collector: Collector, mine: Credentials) -> bool:
    """Is there not even a connection?"""
    async with channel(collector.port, mine) as link:
        renewal = probe_pb2_grpc.EnrolmentStub(link).Renew  # type: ignore[no-untyped-call]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await renewal(probe_pb2.RenewRequest())
    return caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def renewed(collector: Collector, mine: Credentials, now: datetime) -> None:
    await enrolment.renew(
        collector.db,
        collector.credentials.trust,
        probe_id=mine.passport.probe_id,
        csr=pki.request(pki.read_key(mine.key)),
        now=now,
    )


def secret_of(token: str) -> bytes:
    return shared_tokens.read(token).secret


def newcomer(collector: Collector) -> Credentials:
    """What everybody can show."""
    bundle = collector.credentials.trust.bundle
    passport = certified(collector.credentials.trust).passport
    return Credentials(pki.newcomer_key(), pki.NEWCOMER, bundle, passport)


async def test_revoking_a_probe_ends_the_token_that_it_came_by(collector: Collector, tmp_path: Path) -> None:
    token = await token_of(collector, uses=5)
    first = keeper(collector, tmp_path / "first", token)
    await first.begin()
    [row] = await collector.fetch("SELECT probe_id FROM probes WHERE key_hash IS NOT NULL")
    await probes.revoke(collector.db, operator(), row["probe_id"], utc_now())

    with pytest.raises(CannotStart, match="expired"):
        await keeper(collector, tmp_path / "second", token).begin()
