"""What a webhook's receiver sees, checked from the raw bytes as a receiver would."""

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from collector.notifications.channels import CHANNELS, load
from collector.notifications.channels.message import Message, Sent
from collector.notifications.channels.webhook import Webhook
from collector.platform.delivery import Undelivered
from collector.platform.transport import Transport
from collector.platform.validation.validation import check, to_json
from shared import __version__
from shared.clock import utc_now
from shared.errors import Invalid
from shared.kinds import secret_fields
from tests.receiver import Received, answer, receiving

MESSAGE = Message(
    id="evt_" + "0" * 26,
    delivery="dlv_" + "1" * 26,
    kind="monitor.down",
    body='{"event":"monitor.down","monitor":{"name":"é  \\u2028"}}'.encode(),
)
URL = "https://example.com/hook"


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    opened = Transport(allow_private=True)
    yield opened
    await opened.close()


async def sent(transport: Transport, **config: Any) -> Received:
    async with receiving() as receiver:
        webhook, _ = check(Webhook, {"url": receiver.url(), **config})
        assert await webhook.send(MESSAGE, transport, utc_now()) == Sent(200)
    return receiver.received[0]


async def test_the_body_and_what_describes_it(transport: Transport) -> None:
    request = await sent(transport)

    assert request.method == "POST"
    assert request.body == MESSAGE.body
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == f"Tocsin/{__version__}"
    assert request.headers["x-service-event"] == "monitor.down"
    assert request.headers["x-service-delivery"] == MESSAGE.delivery
    assert request.headers["webhook-id"] == MESSAGE.id


async def test_the_signature_is_the_hex_hmac_of_the_raw_bytes(transport: Transport) -> None:
    request = await sent(transport, signingSecret="hunter2")

    expected = hmac.new(b"hunter2", request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-service-signature"] == expected


async def test_the_signature_goes_where_it_is_wanted(transport: Transport) -> None:
    request = await sent(transport, signingSecret="hunter2", signatureHeader="X-Hub-Signature")

    assert "x-service-signature" not in request.headers
    assert b"X-Hub-Signature: " in request.raw_headers


@pytest.mark.parametrize(
    ("secret", "verifier"),
    [
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"),
        ("hunter2", "whsec_" + base64.b64encode(b"hunter2").decode()),
    ],
)
async def test_the_standard_webhooks_library_verifies_it(
    transport: Transport, secret: str, verifier: str
) -> None:
    request = await sent(transport, signingSecret=secret)

    assert Verifier(verifier).verify(request.body, dict(request.headers))["event"] == "monitor.down"


async def test_during_a_rotation_receivers_that_know_either_secret_verify_it(transport: Transport) -> None:
    request = await sent(transport, signingSecret="new secret", previousSigningSecret="old secret")

    for secret, header in (
        ("new secret", "x-service-signature"),
        ("old secret", "x-service-signature-previous"),
    ):
        standard = "whsec_" + base64.b64encode(secret.encode()).decode()
        assert Verifier(standard).verify(request.body, dict(request.headers))["event"] == "monitor.down"
        expected = hmac.new(secret.encode(), request.body, hashlib.sha256).hexdigest()
        assert request.headers[header] == expected


async def test_a_previous_secret_alone_signs_nothing_as_if_it_were_the_present_one(
    transport: Transport,
) -> None:
    request = await sent(transport, previousSigningSecret="old secret")

    assert "x-service-signature" not in request.headers


async def test_without_a_secret_nothing_is_signed(transport: Transport) -> None:
    headers = (await sent(transport)).headers

    assert {"webhook-id", "webhook-timestamp"} <= headers.keys()
    assert not {"webhook-signature", "x-service-signature"} & headers.keys()


async def test_the_channels_headers_are_sent_but_none_of_ours_is_overruled(transport: Transport) -> None:
    request = await sent(
        transport,
        signingSecret="hunter2",
        method="put",
        headers={
            "Authorization": "Bearer token",
            "X-API-Key": "kéy",
            "content-type": "application/vnd.example+json",
            "Webhook-Id": "forged",
            "x-service-signature": "forged",
            "X-Service-Event": "forged",
        },
    )

    assert request.method == "PUT"
    assert request.headers["authorization"] == "Bearer token"
    assert request.headers["x-api-key"].encode("latin-1").decode() == "kéy"
    assert request.headers["content-type"] == "application/vnd.example+json"
    assert b"forged" not in request.raw_headers
    names = [line.partition(b":")[0].lower() for line in request.raw_headers.splitlines()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("status", [301, 400, 401, 404, 410, 429, 500, 503])
async def test_whatever_is_not_2xx_did_not_arrive(transport: Transport, status: int) -> None:
    async with receiving(answer(status, {"Retry-After": "7"}, b"SEEDED")) as receiver:
        with pytest.raises(Undelivered, match=f"^answered {status}$") as caught:
            await Webhook(url=receiver.url()).send(MESSAGE, transport, utc_now())

    assert (caught.value.status, caught.value.retry_after_s) == (status, 7)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_every_2xx_arrived(transport: Transport, status: int) -> None:
    async with receiving(answer(status, body=b"")) as receiver:
        assert await Webhook(url=receiver.url()).send(MESSAGE, transport, utc_now()) == Sent(status)


@pytest.mark.parametrize(
    ("config", "details"),
    [
        pytest.param({}, {"url": "URL is required"}, id="no url"),
        pytest.param(
            {"url": "ftp://example.com"}, {"url": "must be an http:// or https:// URL with a host"}, id="ftp"
        ),
        pytest.param(
            {"url": URL, "timeout": 61, "maxRetries": 11, "method": "TRACE", "retryOnFailure": "yes"},
            {
                "timeout": "must be between 1 and 60",
                "maxRetries": "must be between 0 and 10",
                "method": "must be one of POST, PUT, PATCH, GET",
                "retryOnFailure": "must be true or false",
            },
            id="every bad field at once",
        ),
        pytest.param(
            {"url": URL, "headers": {"X": 1.5, "Y": True}}, {"headers.Y": "must be a string"}, id="a deep one"
        ),
        pytest.param(
            {"url": URL, "events": ["monitor.down", "monitor.sideways"], "monitors": ["mon_x"]},
            {"events[1]": "is no kind of event", "monitors[0]": "must be the id of a monitor"},
            id="unknown words in lists",
        ),
        pytest.param(
            {"events": ["monitor.sideways"], "monitors": [5]},
            {
                "url": "URL is required",
                "events[0]": "is no kind of event",
                "monitors[0]": "must be a string",
            },
            id="unknown words beside what is missing",
        ),
        *(
            pytest.param(
                {"url": URL, "signatureHeader": name},
                {"signatureHeader": "must be the name of a header that is not ours already"},
                id=f"a signature in {name}",
            )
            for name in ("Content-Type", "webhook-id", "Webhook-Signature", "X-Service-Delivery", "a b", "")
        ),
    ],
)
def test_bad_configurations(config: dict[str, Any], details: dict[str, str]) -> None:
    with pytest.raises(Invalid) as caught:
        check(Webhook, config)
    assert caught.value.details == details


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nY: b"},
        {"X": "a\nb"},
        {"X": "a\x85b"},
        {"X\r\nY": "a"},
        {"X Y": "a"},
        {"": "a"},
        {"Host": "example.com"},
        {"content-length": "5"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "close"},
    ],
)
def test_headers_that_would_frame_or_forge_the_request_are_refused(headers: Mapping[str, str]) -> None:
    with pytest.raises(Invalid) as caught:
        check(Webhook, {"url": URL, "headers": headers})
    assert list(caught.value.details) == ["headers"]


@pytest.mark.parametrize("name", ["X\r\nY", "", "Host", "a b"])
def test_the_signature_header_must_be_one(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(Webhook, {"url": URL, "signatureHeader": name})
    assert list(caught.value.details) == ["signatureHeader"]


def test_defaults_are_those_of_the_contract() -> None:
    webhook, _ = check(Webhook, {"url": URL})
    assert to_json(webhook) == {
        "url": URL,
        "method": "POST",
        "headers": {},
        "timeout": 30,
        "retryOnFailure": True,
        "maxRetries": 3,
        "signatureHeader": "X-Service-Signature",
        "signingSecret": None,
        "previousSigningSecret": None,
        "events": [],
        "monitors": [],
    }


def test_what_may_hold_a_secret_is_marked() -> None:
    assert secret_fields(Webhook) == {"url", "headers", "signingSecret", "previousSigningSecret"}


def test_every_type_of_the_interface_runs_and_apprise_beside_them() -> None:
    named = {"email", "slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook"}
    assert {*CHANNELS} == {*named, "apprise"}


def test_a_stored_configuration_is_read_back_and_what_is_unknown_left_out() -> None:
    webhook, _ = check(Webhook, {"url": URL, "timeout": 5, "signingSecret": "hunter2"})
    assert load("webhook", {**to_json(webhook), "fromAnotherVersion": 1}) == webhook
