"""Checks revocation of a certificate by OCSP, else by its authority's list (CRL)."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from probe.net.bodies import Body
from probe.net.errors import ProbeError, TargetError
from probe.net.http1 import HttpReply
from probe.net.request import request
from probe.net.spent import Limit, PhaseDurations
from shared.kinds.http import Http, is_url

if TYPE_CHECKING:
    from probe.net.engine import Net

# Lists of large authorities have some megabytes; at most this many URLs are tried.
_MOST_BYTES: Final = 8_388_608
_MOST_PLACES: Final = 2
_GOOD: Final = 200
# Tolerance for clock differences.
_SKEW_S: Final = 300
# Errors that the library raises for invalid data.
_BAD: Final = (
    ValueError,
    TypeError,
    InvalidSignature,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.ExtensionNotFound,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)


@dataclass(frozen=True, slots=True)
class RevocationVerdict:
    """*text* is empty if not revoked; *until*: Unix time up to which the answer is valid."""

    text: str
    until: float


async def verdict(net: "Net", leaf_der: bytes, issuer_der: bytes, limit: Limit) -> RevocationVerdict | None:
    """The authority's answer about the leaf; None if there is none, or it is unreachable."""
    try:
        leaf, issuer = x509.load_der_x509_certificate(leaf_der), x509.load_der_x509_certificate(issuer_der)
        responders, lists = _responders(leaf), _lists(leaf)
        asked = ocsp.OCSPRequestBuilder().add_certificate(leaf, issuer, SHA1()).build()  # noqa: S303 - identifies a key
    except _BAD:
        return None
    question = quote(base64.b64encode(asked.public_bytes(Encoding.DER)), safe="")
    for url in responders:
        revocation_verdict = _of_responder(
            await _fetch(net, f"{url.rstrip('/')}/{question}", limit), leaf, issuer
        )
        if revocation_verdict is not None:
            return revocation_verdict
    for url in lists:
        revocation_verdict = _of_list(await _fetch(net, url, limit), leaf, issuer)
        if revocation_verdict is not None:
            return revocation_verdict
    return None


async def _fetch(net: "Net", url: str, limit: Limit) -> bytes:
    """The content of *url*; empty if it is unavailable."""
    try:
        asked = request(Http(url=url))
        body = Body(_MOST_BYTES)
        reply = HttpReply(head=False, most=_MOST_BYTES, body=body)
        await net.converse(asked.endpoint, PhaseDurations(), limit, asked.data, reply)
    except (TargetError, ProbeError, ValueError):
        return b""
    return bytes(body.data) if reply.code == _GOOD and not body.fault else b""


def _of_responder(raw: bytes, leaf: x509.Certificate, issuer: x509.Certificate) -> RevocationVerdict | None:
    try:
        response = ocsp.load_der_ocsp_response(raw)
        if not _is_answer(response, leaf, issuer):
            return None
        until = _until(response.this_update_utc, response.next_update_utc)
        _prove(response, _responder(response, issuer))
    except _BAD:
        return None
    return None if until is None else RevocationVerdict(_words(response.revocation_time_utc), until)


def _is_answer(response: ocsp.OCSPResponse, leaf: x509.Certificate, issuer: x509.Certificate) -> bool:
    """Whether it is a response about this certificate of this authority."""
    return (
        response.response_status is ocsp.OCSPResponseStatus.SUCCESSFUL
        and response.serial_number == leaf.serial_number
        and response.certificate_status is not ocsp.OCSPCertStatus.UNKNOWN
        and isinstance(response.hash_algorithm, SHA1)
        and response.issuer_key_hash == x509.SubjectKeyIdentifier.from_public_key(issuer.public_key()).digest
    )


def _prove(response: ocsp.OCSPResponse, by: x509.Certificate) -> None:
    """Raise ValueError or InvalidSignature unless *by* signed it."""
    key, digest = by.public_key(), response.signature_hash_algorithm
    if isinstance(key, rsa.RSAPublicKey) and digest is not None:
        key.verify(response.signature, response.tbs_response_bytes, padding.PKCS1v15(), digest)
    elif isinstance(key, ec.EllipticCurvePublicKey) and digest is not None:
        key.verify(response.signature, response.tbs_response_bytes, ec.ECDSA(digest))
    else:
        raise ValueError("a key of another kind")


def _responder(response: ocsp.OCSPResponse, issuer: x509.Certificate) -> x509.Certificate:
    """The signer: the authority, or a delegate of it. Raises ValueError for an invalid delegate."""
    for certificate in response.certificates:
        if certificate == issuer:
            continue
        certificate.verify_directly_issued_by(issuer)
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        if ExtendedKeyUsageOID.OCSP_SIGNING not in usages:
            raise ValueError("not allowed to answer")
        if not certificate.not_valid_before_utc <= datetime.now(UTC) <= certificate.not_valid_after_utc:
            raise ValueError("not valid now")
        return certificate
    return issuer


def _of_list(raw: bytes, leaf: x509.Certificate, issuer: x509.Certificate) -> RevocationVerdict | None:
    try:
        pem = raw.startswith(b"-----BEGIN")
        listed = x509.load_pem_x509_crl(raw) if pem else x509.load_der_x509_crl(raw)
        key = issuer.public_key()
        if listed.issuer != issuer.subject or not isinstance(
            key, rsa.RSAPublicKey | ec.EllipticCurvePublicKey
        ):
            return None
        if not listed.is_signature_valid(key):
            return None
        until = _until(listed.last_update_utc, listed.next_update_utc)
        certificate = listed.get_revoked_certificate_by_serial_number(leaf.serial_number)
    except _BAD:
        return None
    if until is None:
        return None
    return RevocationVerdict(_words(None if certificate is None else certificate.revocation_date_utc), until)


def _until(since: datetime, until: datetime | None) -> float | None:
    """The end of the validity; None if it is not valid now."""
    now = datetime.now(UTC).timestamp()
    end = since.timestamp() + 86_400 if until is None else until.timestamp()
    return end if since.timestamp() - _SKEW_S <= now < end + _SKEW_S else None


def _words(revoked: datetime | None) -> str:
    return "" if revoked is None else f"tls: certificate was revoked on {revoked:%Y-%m-%d}"


def _responders(leaf: x509.Certificate) -> Sequence[str]:
    try:
        places = leaf.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except x509.ExtensionNotFound:
        return []
    kind = AuthorityInformationAccessOID.OCSP
    return _plain([place.access_location for place in places if place.access_method == kind])


def _lists(leaf: x509.Certificate) -> Sequence[str]:
    try:
        places = leaf.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    except x509.ExtensionNotFound:
        return []
    return _plain([name for place in places for name in place.full_name or ()])


def _plain(names: Sequence[x509.GeneralName]) -> Sequence[str]:
    """Only plain HTTP, as required: HTTPS would need another certificate check."""
    urls = [name.value for name in names if isinstance(name, x509.UniformResourceIdentifier)]
    return [url for url in urls if url.startswith("http://") and is_url(url)][:_MOST_PLACES]
