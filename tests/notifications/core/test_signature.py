"""Signatures, against known values and against the library that receivers use."""

import base64
from datetime import UTC, datetime

import pytest
from standardwebhooks.webhooks import Webhook

from collector.notifications.core.signature import hex_hmac, standard

BODY = '{"event":"monitor.down","name":"é"}'.encode()
NOW = datetime(2026, 11, 21, 7, 24, tzinfo=UTC)
TIMESTAMP = int(NOW.timestamp())


def test_the_hex_hmac_is_that_of_rfc_4231_test_case_2() -> None:
    assert (
        hex_hmac("Jefe", b"what do ya want for nothing?")
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", id="a secret in their form"),
        pytest.param("whsec_" + base64.b64encode(b"k" * 32).decode().rstrip("="), id="without its padding"),
    ],
)
def test_a_standard_secret_signs_as_the_library_does(secret: str) -> None:
    padded = secret + "=" * (-len(secret.removeprefix("whsec_")) % 4)
    assert standard(secret, "evt_1", TIMESTAMP, BODY) == Webhook(padded).sign("evt_1", NOW, BODY.decode())


@pytest.mark.parametrize("secret", ["hunter2", "pässwörd", "whsec_not base64!"])
def test_any_other_secret_is_verified_by_whsec_and_the_base64_of_its_bytes(secret: str) -> None:
    verifier = Webhook("whsec_" + base64.b64encode(secret.encode()).decode())
    assert standard(secret, "evt_1", TIMESTAMP, BODY) == verifier.sign("evt_1", NOW, BODY.decode())
