"""Revocation: the authority is believed if it signed what is said, and its silence is no failure."""

import base64
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.tls import Tls
from tests.probe import targets
from tests.probe.net.zoo import DAY, HERE, MIDDLE, NOW, ROOT, STRANGER, Issued, issue, serving
from tests.probe.targets import target

HOUR = timedelta(hours=1)
REVOKED = f"tls: certificate was revoked on {NOW - DAY:%Y-%m-%d}"
Answer = Callable[[Issued, bytes], bytes]


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


def leaf(url: str, *, by_list: bool) -> Issued:
    """One that says where its authority is asked."""
    plain = issue("leaf", MIDDLE)
    place = x509.UniformResourceIdentifier(url)
    certificate = plain.certificate
    builder = (
        x509.CertificateBuilder()
        .subject_name(certificate.subject)
        .issuer_name(certificate.issuer)
        .public_key(certificate.public_key())
        .serial_number(certificate.serial_number)
        .not_valid_before(certificate.not_valid_before_utc)
        .not_valid_after(certificate.not_valid_after_utc)
    )
    for extension in certificate.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    if by_list:
        points = x509.CRLDistributionPoints([x509.DistributionPoint([place], None, None, None)])
        builder = builder.add_extension(points, critical=False)
    else:
        access = x509.AccessDescription(AuthorityInformationAccessOID.OCSP, place)
        builder = builder.add_extension(x509.AuthorityInformationAccess([access]), critical=False)
    assert isinstance(MIDDLE.key, ec.EllipticCurvePrivateKey)
    return Issued(builder.sign(MIDDLE.key, SHA256()), plain.key)


def ocsp_says(
    *,
    revoked: bool,
    by: Issued = MIDDLE,
    old: bool = False,
    other: bool = False,
    delegate: Issued | None = None,
) -> Answer:
    def answer(one: Issued, question: bytes) -> bytes:
        asked = ocsp.load_der_ocsp_request(question)
        assert asked.serial_number == one.certificate.serial_number
        now = datetime.now(UTC) - (9 * DAY if old else HOUR)
        signer = delegate or by
        assert isinstance(signer.key, ec.EllipticCurvePrivateKey)
        builder = (
            ocsp.OCSPResponseBuilder()
            .add_response(
                cert=issue("another", MIDDLE).certificate if other else one.certificate,
                issuer=MIDDLE.certificate,
                algorithm=SHA1(),
                cert_status=ocsp.OCSPCertStatus.REVOKED if revoked else ocsp.OCSPCertStatus.GOOD,
                this_update=now,
                next_update=now + DAY,
                revocation_time=NOW - DAY if revoked else None,
                revocation_reason=None,
            )
            .responder_id(ocsp.OCSPResponderEncoding.HASH, signer.certificate)
        )
        if delegate is not None:
            builder = builder.certificates([delegate.certificate])
        return builder.sign(signer.key, SHA256()).public_bytes(Encoding.DER)

    return answer


def list_says(*, revoked: bool, by: Issued = MIDDLE, old: bool = False) -> Answer:
    def answer(one: Issued, _question: bytes) -> bytes:
        now = datetime.now(UTC) - (9 * DAY if old else HOUR)
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(MIDDLE.certificate.subject)
            .last_update(now)
            .next_update(now + DAY)
        )
        if revoked:
            serial = one.certificate.serial_number
            entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(NOW - DAY)
            builder = builder.add_revoked_certificate(entry.build())
        assert isinstance(by.key, ec.EllipticCurvePrivateKey)
        return builder.sign(by.key, SHA256()).public_bytes(Encoding.DER)

    return answer


def of_no_version(says: Answer) -> Answer:
    """A list whose version is 0, where 1 means the second."""

    def answer(one: Issued, question: bytes) -> bytes:
        return says(one, question).replace(b"\x02\x01\x01", b"\x02\x01\x00", 1)

    return answer


class Authority:
    """Answers over HTTP, as *answer* does; None is an error of its own."""

    def __init__(self, answer: Answer | None) -> None:
        self.answer = answer
        self.leaf: Issued | None = None
        self.asked = 0

    def __call__(self, sock: Any) -> None:
        path = targets.read_request(sock).split(b" ")[1]
        self.asked += 1
        if self.answer is None or self.leaf is None:
            sock.sendall(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
            return
        question = base64.b64decode(unquote_to_bytes(path.rpartition(b"/")[2])) if b"ocsp" in path else b""
        data = self.answer(self.leaf, question)
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(data) + data)


@contextmanager
def served(answer: Answer | None, *, by_list: bool) -> Iterator[tuple[Authority, int]]:
    authority = Authority(answer)

    def shake(sock: Any) -> None:
        sock.recv(1)

    with target(authority) as asked:
        path = "list.crl" if by_list else "ocsp"
        authority.leaf = leaf(f"http://{asked.peer}/{path}", by_list=by_list)
        with target(targets.over_tls(serving(authority.leaf, MIDDLE), shake)) as server:
            yield authority, server.port


def delegate(*, allowed: bool, by: Issued = MIDDLE) -> Issued:
    usage = ExtendedKeyUsageOID.OCSP_SIGNING if allowed else ExtendedKeyUsageOID.SERVER_AUTH
    return issue("responder", by, usage=usage)


@pytest.mark.parametrize(
    ("answer", "by_list", "error"),
    [
        pytest.param(ocsp_says(revoked=False), False, "", id="good"),
        pytest.param(ocsp_says(revoked=True), False, REVOKED, id="revoked"),
        pytest.param(
            ocsp_says(revoked=True, delegate=delegate(allowed=True)), False, REVOKED, id="a delegate"
        ),
        pytest.param(ocsp_says(revoked=True, delegate=delegate(allowed=False)), False, "", id="not allowed"),
        pytest.param(
            ocsp_says(revoked=True, delegate=delegate(allowed=True, by=STRANGER)),
            False,
            "",
            id="a stranger's",
        ),
        pytest.param(ocsp_says(revoked=True, by=STRANGER), False, "", id="signed by a stranger"),
        pytest.param(ocsp_says(revoked=True, old=True), False, "", id="too old"),
        pytest.param(ocsp_says(revoked=True, other=True), False, "", id="of another"),
        pytest.param(lambda _leaf, _question: b"nonsense", False, "", id="nonsense"),
        pytest.param(None, False, "", id="an error"),
        pytest.param(list_says(revoked=False), True, "", id="not listed"),
        pytest.param(list_says(revoked=True), True, REVOKED, id="listed"),
        pytest.param(list_says(revoked=True, by=STRANGER), True, "", id="list of a stranger"),
        pytest.param(list_says(revoked=True, old=True), True, "", id="an old list"),
        pytest.param(lambda _leaf, _question: b"-----BEGIN X509 CRL-----\n", True, "", id="no list"),
        pytest.param(of_no_version(list_says(revoked=True)), True, "", id="a list of no known version"),
    ],
)
async def test_the_authority_is_asked_and_believed_if_it_is_the_one(
    net: Net, answer: Answer | None, by_list: bool, error: str
) -> None:
    with served(answer, by_list=by_list) as (authority, port):
        check = CHECKS["tls"](Tls(domain=f"{HERE}:{port}", revocation=True))
        outcomes = [(await run(check, net, 5.0)).outcome for _ in range(2)]

    lines = [outcome.error.split(" (")[0] for outcome in outcomes]
    assert lines == [error, error]
    assert authority.asked == 1


async def test_nobody_is_asked_unless_that_is_wanted(net: Net) -> None:
    with served(ocsp_says(revoked=True), by_list=False) as (authority, port):
        outcome = (await run(CHECKS["tls"](Tls(domain=f"{HERE}:{port}")), net, 5.0)).outcome

    assert (outcome.error, authority.asked) == ("", 0)
