"""Mails, as a real mail server gets them."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest
import trustme

from collector.notifications.channels.email import Email
from collector.notifications.channels.message import Message, Sent
from collector.platform import mailer as mailer_module
from collector.platform.delivery import Undelivered
from collector.platform.mailer import Mailer
from collector.platform.transport import Transport
from collector.platform.validation.validation import check
from shared.clock import utc_now
from shared.errors import Invalid
from tests.mailbox import PASSWORD, USER, Mail, Mailbox, mailbox
from tests.notifications.channels.payloads import INCIDENT, MONITOR, message

SENDER = "Tocsin <alerts@tocsin.example.com>"
TWO = ["one@example.com", "two@example.com"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture(scope="module")
def trust(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
async def box() -> AsyncIterator[Mailbox]:
    async with mailbox() as opened:
        yield opened


async def send(mailer: Mailer | None, message: Message, recipients: list[str] = TWO, **config: Any) -> Sent:
    channel, unknown = check(Email, {"recipients": recipients, **config})
    assert not unknown
    transport = Transport(allow_private=True, mailer=mailer)
    try:
        return await channel.send(message, transport, utc_now())
    finally:
        await transport.close()


async def mailed(box: Mailbox, message: Message, recipients: list[str] = TWO, **config: Any) -> Mail:
    await send(Mailer(box.url(), SENDER), message, recipients, **config)
    return box.mails[-1]


async def test_a_mail_says_what_since_when_how_sure_the_error_and_where_to_look(box: Mailbox) -> None:
    mail = await mailed(box, message("monitor.down"))

    assert mail.message["Subject"] == "Down: Shop checkout"
    assert mail.message["From"] == SENDER
    assert mail.message["To"] == "one@example.com, two@example.com"
    assert (mail.sender, mail.recipients) == ("alerts@tocsin.example.com", TWO)
    for part in (mail.part("plain"), mail.part("html")):
        for said in (
            "Down: Shop checkout",
            "status 503, expected 200-299",
            "2026-11-21 07:24:00 UTC",
            "2 of 3 fail (eu-west, us-east); good: ap-south",
            "https://tocsin.example.com/incidents/inc_01kqs3w8e7m0000000000000bb",
        ):
            assert said in part


async def test_mails_of_an_incident_are_one_thread_and_a_repeated_one_is_known_as_such(box: Mailbox) -> None:
    down = (await mailed(box, message("monitor.down"))).message
    again = (await mailed(box, message("monitor.down"))).message
    up = (await mailed(box, message("monitor.up"))).message

    assert down["References"] == up["References"] == f"<{INCIDENT['id']}@tocsin.example.com>"
    assert down["In-Reply-To"] == down["References"]
    assert down["Message-ID"] == again["Message-ID"]
    assert down["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize(
    "broken", ["a\r\nBcc: victim@example.com", "a\nX: y", "a\0b", "a\u2028b", "a\x85b", "\r\n\r\nbody"]
)
async def test_no_name_or_text_can_add_a_header(box: Mailbox, broken: str) -> None:
    said = message(
        "monitor.down",
        monitor={**MONITOR, "name": broken, "url": broken},
        incident={**INCIDENT, "lastError": broken, "id": broken, "severity": broken},
        links={"incident": broken},
    )

    mail = await mailed(box, said)

    plain = await mailed(box, message("monitor.down"))
    assert mail.message.keys() == plain.message.keys()
    assert mail.recipients == TWO


async def test_html_shows_markup_as_text(box: Mailbox) -> None:
    nasty = "<script>alert(1)</script><img src=x onerror=a>"
    said = message(
        "monitor.down",
        monitor={**MONITOR, "name": nasty, "url": nasty},
        incident={**INCIDENT, "lastError": nasty},
        links={"incident": 'https://x.example/"onmouseover="a'},
    )

    html = (await mailed(box, said)).part("html")

    assert "<script" not in html
    assert "<img" not in html
    assert '"onmouseover="' not in html


async def test_a_long_name_is_cut_and_other_letters_survive(box: Mailbox) -> None:
    name = "Überwachung 監視 🔥 " * 40

    subject = (await mailed(box, message("monitor.down", monitor={**MONITOR, "name": name}))).message[
        "Subject"
    ]

    assert subject.startswith("Down: Überwachung 監視 🔥")
    assert subject.endswith("…")
    assert len(subject) <= 200


async def test_starttls_and_a_login(server_tls: ssl.SSLContext, trust: ssl.SSLContext) -> None:
    async with mailbox(tls=server_tls, login=True) as box:
        url = box.url(user=f"{USER}:{PASSWORD}@", query="starttls=1")
        await send(Mailer(url, SENDER, trust=trust), message("monitor.down"))

    assert (box.mails[0].tls, box.mails[0].user) == (True, USER)


async def test_what_the_server_refuses_is_told_without_the_password(
    server_tls: ssl.SSLContext, trust: ssl.SSLContext
) -> None:
    async with mailbox(tls=server_tls, login=True) as box:
        cases = (
            (box.url(user=f"{USER}:SEEDED-wrong@", query="starttls=1"), trust, "535", True),
            (box.url(query="starttls=1"), trust, "530", True),
            (box.url(user=f"{USER}:{PASSWORD}@", query="starttls=1"), None, "certificate", False),
        )
        for url, trusted, why, lasting in cases:
            with pytest.raises(Undelivered, match=why) as caught:
                await send(Mailer(url, SENDER, trust=trusted), message("monitor.down"))
            assert "SEEDED" not in str(caught.value)
            assert caught.value.lasting is lasting


async def test_starttls_that_is_demanded_and_not_offered_sends_nothing_in_the_clear(box: Mailbox) -> None:
    with pytest.raises(Undelivered, match="STARTTLS"):
        await send(Mailer(box.url(query="starttls=1"), SENDER), message("monitor.down"))
    assert box.mails == []


async def test_a_server_that_is_away_or_stalls_is_told_of(
    box: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Undelivered, match="cannot be reached") as caught:
        await send(Mailer("smtp://localhost:1?starttls=0", SENDER), message("monitor.down"))
    assert not caught.value.lasting
    box.stalls = True
    monkeypatch.setattr(mailer_module, "TIMEOUT_S", 0.2)
    with pytest.raises(Undelivered, match="did not answer within"):
        await send(Mailer(box.url(), SENDER), message("monitor.down"))


async def test_without_a_mail_server_it_fails_and_says_what_is_missing() -> None:
    with pytest.raises(Undelivered, match="TOCSIN_SMTP_URL") as caught:
        await send(None, message("monitor.down"))
    assert caught.value.lasting


async def test_an_address_that_is_refused_for_good_does_not_hold_up_the_others(box: Mailbox) -> None:
    box.answers["two@example.com"] = ["550 no such user"]

    sent = await send(Mailer(box.url(), SENDER), message("monitor.down"))

    assert box.mails[0].recipients == ["one@example.com"]
    assert sent.note == "the mail server refused two@example.com: 550 no such user"


async def test_an_address_that_is_refused_for_now_is_tried_again_alone(box: Mailbox) -> None:
    box.answers["two@example.com"] = ["450 come back later", "250 fine"]

    with pytest.raises(Undelivered, match="450 come back later") as caught:
        await send(Mailer(box.url(), SENDER), message("monitor.down"))
    assert not caught.value.lasting
    assert caught.value.reached == {"one@example.com"}
    await send(Mailer(box.url(), SENDER), message("monitor.down", reached=caught.value.reached))

    assert [mail.recipients for mail in box.mails] == [["one@example.com"], ["two@example.com"]]
    assert box.mails[0].message["To"] == box.mails[1].message["To"]


@pytest.mark.parametrize(("code", "lasting"), [("550 no", True), ("451 not now", False)])
async def test_nobody_reached_is_a_failure(box: Mailbox, code: str, lasting: bool) -> None:
    box.answers = {address: [code] for address in TWO}

    with pytest.raises(Undelivered, match=code) as caught:
        await send(Mailer(box.url(), SENDER), message("monitor.down"))
    assert (caught.value.lasting, caught.value.reached) == (lasting, frozenset())


@pytest.mark.parametrize(("code", "lasting"), [("554 spam", True), ("452 full", False)])
async def test_a_mail_that_is_refused_as_a_whole(box: Mailbox, code: str, lasting: bool) -> None:
    box.data = code

    with pytest.raises(Undelivered, match=code) as caught:
        await send(Mailer(box.url(), SENDER), message("monitor.down"))
    assert caught.value.lasting is lasting


async def test_a_host_name_in_other_letters_goes_out_as_dns_has_it(box: Mailbox) -> None:
    mail = await mailed(box, message("monitor.down"), ["ops@bücher.example"])

    assert mail.recipients == ["ops@xn--bcher-kva.example"]


async def test_an_address_that_the_server_cannot_take_says_so(box: Mailbox) -> None:
    with pytest.raises(Undelivered, match="SMTPUTF8"):
        await send(Mailer(box.url(), SENDER), message("monitor.down"), ["bücher@example.com"])


async def test_many_mails_at_a_time_wait_for_their_turn(box: Mailbox) -> None:
    mailer = Mailer(box.url(), SENDER)

    await asyncio.gather(*(send(mailer, message("monitor.down")) for _ in range(60)))

    assert len(box.mails) == 60


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ops",
        "@example.com",
        "ops@",
        "a b@example.com",
        "a@example.com, b@example.com",
        "a@example.com\r\nBcc: b@example.com",
        "Ops <ops@example.com>",
        "a@b@example.com",
        "a@exa mple.com",
        "a\0@example.com",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(Invalid) as caught:
        check(Email, {"recipients": ["ops@example.com", address]})
    assert list(caught.value.details) == ["recipients[1]"]


@pytest.mark.parametrize("recipients", [None, []])
def test_recipients_are_required(recipients: list[str] | None) -> None:
    with pytest.raises(Invalid) as caught:
        check(Email, {"recipients": recipients})
    assert list(caught.value.details) == ["recipients"]


async def test_a_password_is_sent_over_tls_or_not_at_all_unless_the_url_says_so() -> None:
    async with mailbox() as box:
        login = f"{USER}:{PASSWORD}@"
        with pytest.raises(Undelivered, match="without STARTTLS a password is sent only if"):
            await send(Mailer(box.url(user=login, query=""), SENDER), message("monitor.down"))
        assert box.mails == []

        await send(Mailer(box.url(user=login, query="starttls=0"), SENDER), message("monitor.down"))
        assert [mail.user for mail in box.mails] == [USER]
