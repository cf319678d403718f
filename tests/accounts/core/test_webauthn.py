"""What an authenticator answers, read and verified."""

import hashlib
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from collector.accounts.core import webauthn
from collector.accounts.core.webauthn import (
    KnownCredential,
    NewCredential,
    PasskeyAssertion,
    PasskeyFault,
    RelyingParty,
    decoded,
    encoded,
)
from tests.accounts.authenticator import Authenticator

ORIGIN = "https://tocsin.example.com"
SITE = RelyingParty("tocsin.example.com", ORIGIN)
CHALLENGE = bytes(range(32))
QUESTION = {"challenge": encoded(CHALLENGE), "handle": "AAAA"}
FLAGS_AT = 32


def authenticator() -> Authenticator:
    return Authenticator(ORIGIN, site=SITE.id)


def registered(fields: dict[str, str]) -> NewCredential | PasskeyFault:
    return webauthn.register(
        SITE, CHALLENGE, decoded(fields["client"]), decoded(fields["authenticator"]), decoded(fields["key"])
    )


def assertion(fields: dict[str, str]) -> PasskeyAssertion:
    return PasskeyAssertion(
        *(decoded(fields[name]) for name in ("credential", "client", "authenticator", "signature", "handle"))
    )


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://tocsin.example.com", RelyingParty("tocsin.example.com", "https://tocsin.example.com")),
        ("https://example.com:8443/base", RelyingParty("example.com", "https://example.com:8443")),
        ("http://localhost:8080", RelyingParty("localhost", "http://localhost:8080")),
        ("http://a.localhost", RelyingParty("a.localhost", "http://a.localhost")),
        ("http://tocsin.example.com", None),
        ("https://192.0.2.1", None),
        ("https://[2001:db8::1]:8443", None),
        ("", None),
    ],
)
def test_a_site_is_a_host_name_that_browsers_trust(url: str, site: RelyingParty | None) -> None:
    assert RelyingParty.of(url) == site


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe", bytes(range(256))])
def test_bytes_survive_the_form(data: bytes) -> None:
    assert decoded(encoded(data)) == data


@pytest.mark.parametrize("text", ["ä", "A", "AA=A", "AAAA AAAA", "\0"])
def test_other_texts_are_no_bytes(text: str) -> None:
    assert decoded(text) == b""


def test_a_registration_brings_id_key_and_counter() -> None:
    key = authenticator()
    key.counter = 2**32 - 1

    assert registered(key.created(QUESTION)) == NewCredential(key.credential_id, key.public_key, 2**32 - 1)


@pytest.mark.parametrize("length", [0, 1024, 2000])
def test_ids_have_their_bounds(length: int) -> None:
    key = authenticator()
    key.credential_id = bytes(length)

    assert registered(key.created(QUESTION)) is PasskeyFault.UNREADABLE


@pytest.mark.parametrize("size", [0, 36, 37, 54, 60])
def test_a_truncated_registration_is_unreadable(size: int) -> None:
    fields = authenticator().created(QUESTION)
    fields["authenticator"] = encoded(decoded(fields["authenticator"])[:size])

    assert registered(fields) is PasskeyFault.UNREADABLE


@pytest.mark.parametrize("client", [b"", b"{", b"[]", b"null", b"1", b"\xff", b'{"type": "webauthn.create"}'])
def test_odd_client_data_is_refused(client: bytes) -> None:
    fields = {**authenticator().created(QUESTION), "client": encoded(client)}

    assert registered(fields) in (PasskeyFault.UNREADABLE, PasskeyFault.OTHER_CHALLENGE)


def _der(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize(
    "key",
    [
        b"",
        b"\x30" * 5000,
        _der(ec.generate_private_key(ec.SECP384R1())),
        _der(ed25519.Ed25519PrivateKey.generate()),
        _der(rsa.generate_private_key(65537, 1024)),
    ],
    ids=["none", "long", "another curve", "another kind", "short"],
)
def test_keys_of_another_kind_are_refused(key: bytes) -> None:
    fields = {**authenticator().created(QUESTION), "key": encoded(key)}

    assert registered(fields) is PasskeyFault.BAD_KEY


def test_a_key_of_rsa_signs_as_well() -> None:
    key, secret = authenticator(), rsa.generate_private_key(65537, 2048)
    answer = assertion(key.answered(QUESTION))
    signed = answer.authenticator_data + hashlib.sha256(answer.client_data).digest()
    known = KnownCredential(_der(secret), 0)

    good = replace(answer, signature=secret.sign(signed, padding.PKCS1v15(), SHA256()))
    bad = replace(answer, signature=secret.sign(signed + b".", padding.PKCS1v15(), SHA256()))

    assert webauthn.assertion_fault(SITE, CHALLENGE, good, known, verified=True) is None
    fault = webauthn.assertion_fault(SITE, CHALLENGE, bad, known, verified=True)
    assert fault is PasskeyFault.BAD_SIGNATURE


@pytest.mark.parametrize(
    ("flags", "verified", "fault"),
    [
        (0x05, True, PasskeyFault.BAD_SIGNATURE),
        (0x04, True, PasskeyFault.ABSENT),
        (0x00, False, PasskeyFault.ABSENT),
        (0x01, True, PasskeyFault.UNVERIFIED),
        (0x01, False, PasskeyFault.BAD_SIGNATURE),
        (0x15, True, PasskeyFault.UNREADABLE),
        (0x1D, True, PasskeyFault.BAD_SIGNATURE),
    ],
)
def test_flags_are_checked_before_the_signature(flags: int, verified: bool, fault: PasskeyFault) -> None:
    key = authenticator()
    answer = assertion(key.answered(QUESTION))
    data = bytearray(answer.authenticator_data)
    data[FLAGS_AT] = flags
    answer = replace(answer, authenticator_data=bytes(data), signature=b"x")
    known = KnownCredential(key.public_key, 0)

    assert webauthn.assertion_fault(SITE, CHALLENGE, answer, known, verified=verified) is fault


@pytest.mark.parametrize(
    ("kept", "shown", "accepted"),
    [(0, 0, True), (0, 1, True), (1, 2, True), (1, 1, False), (2, 1, False), (1, 0, False)],
)
def test_a_counter_only_rises(kept: int, shown: int, accepted: bool) -> None:
    key = authenticator()
    key.counter = shown
    known = KnownCredential(key.public_key, kept)
    answer = assertion(key.answered(QUESTION))

    fault = webauthn.assertion_fault(SITE, CHALLENGE, answer, known, verified=True)

    assert fault is (None if accepted else PasskeyFault.OLD_COUNTER)
