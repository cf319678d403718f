"""Signing requests of probes, chains of teams, and what authorities answer about a certificate."""

import base64
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from collector.probes.core import authority
from probe.net.tls import revocation
from probe.net.tls.revocation import RevocationVerdict
from shared import client_certificate, pki
from shared.errors import Invalid
from tests.hostile.fuzzing import Parser
from tests.hostile.of_probes import text_of
from tests.probe.checks.test_revocation import list_says, ocsp_says
from tests.probe.net.zoo import MIDDLE, issue

LEAF: Final = issue("leaf", MIDDLE)
LEAF_DER: Final = LEAF.certificate.public_bytes(Encoding.DER)
QUESTION: Final = (
    ocsp.OCSPRequestBuilder()
    .add_certificate(LEAF.certificate, MIDDLE.certificate, SHA1())
    .build()
    .public_bytes(Encoding.DER)
)
Read = Callable[[bytes, x509.Certificate, x509.Certificate], RevocationVerdict | None]


def believed(read: Read, signed: frozenset[tuple[str, float]], data: bytes) -> None:
    """Read an answer: nobody but the authority says that a certificate was revoked, or that it was not."""
    verdict = read(data, LEAF.certificate, MIDDLE.certificate)
    assert verdict is None or (verdict.text, verdict.until) in signed


def answers(read: Read, seeds: list[bytes], words: list[bytes]) -> Parser:
    verdicts = [read(seed, LEAF.certificate, MIDDLE.certificate) for seed in seeds]
    signed = frozenset((each.text, each.until) for each in verdicts if each is not None)
    assert len(signed) == len(seeds)
    return Parser(partial(believed, read, signed), seeds, [revocation], words=words)


def requested(data: bytes) -> None:
    """A signing request. Only a key that signed it comes out."""
    assert authority.requested_key(data).curve.name == "secp256r1"


def chain(data: bytes) -> None:
    """A chain in PEM or, which is made PEM here, in DER; and after NUL its key."""
    written, _, key = data.partition(b"\0")
    pem = b"-----BEGIN CERTIFICATE-----\n%s-----END CERTIFICATE-----\n" % base64.encodebytes(written)
    for text in (text_of(written), pem.decode()):
        if not client_certificate.chain_fault(text):
            assert client_certificate.key_fault(text, text_of(key)) in _KEY_FAULTS


_KEY_FAULTS: Final = (
    "",
    "must be a private key in PEM that no password protects",
    "is not the key of this certificate",
)
PARSERS: Final[Mapping[str, Parser]] = {
    "signing requests": Parser(
        requested,
        [pki.request(pki.new_key())],
        [authority],
        (Invalid,),
        [b"\x02\x01\x00", b"\x02\x01\x02", b"\x30\x80", b"\xa0\x00", b"\x03\x02\x00\x04"],
    ),
    "certificates of clients": Parser(
        chain,
        [
            LEAF.pem + b"\0" + LEAF.key_pem,
            LEAF_DER + b"\0" + LEAF.key_pem,
            LEAF_DER.replace(b"\xce\x3d\x02\x01", b"\xce\x3d\x02\x09") + b"\0" + LEAF.key_pem,
            LEAF_DER.replace(b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x07") + b"\0" + LEAF.key_pem,
        ],
        [client_certificate],
        words=[b"-----BEGIN CERTIFICATE-----\n", b"\xa0\x03\x02\x01\x02", b"\x02\x01\x05", b"\x30\x80"],
    ),
    "OCSP answers": answers(
        revocation._of_responder,
        [ocsp_says(revoked=revoked)(LEAF, QUESTION) for revoked in (True, False)],
        [b"\x0a\x01\x00", b"\x0a\x01\x06", b"\x80\x00", b"\xa1\x11\x18\x0f20260101000000Z", b"\x30\x80"],
    ),
    "revocation lists": answers(
        revocation._of_list,
        [list_says(revoked=revoked)(LEAF, b"") for revoked in (True, False)],
        [b"-----BEGIN X509 CRL-----\n", b"\x17\x0d260101000000Z", b"\x18\x0f99991231235959Z", b"\x30\x80"],
    ),
}  # fmt: skip
