"""The settings of mail: which are accepted, which refused, and that no password is shown."""

import ssl

import pytest

from collector.platform.mailer import Mailer, Server, server
from shared.errors import BadSettings
from shared.settings import CollectorSettings, load


def read(name: str, value: str) -> str | None:
    settings, warnings = load(CollectorSettings, [], {f"TOCSIN_{name.upper()}": value})
    assert warnings == []
    text: str | None = getattr(settings, name)
    return text


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        (
            "smtp://user:p%40ss@mail.example.com:2525?starttls=1",
            Server("mail.example.com", 2525, "user", "p@ss", False, True),
        ),
        ("smtp://mail.example.com", Server("mail.example.com", 587, None, None, False, None)),
        ("smtp://mail.example.com:25?starttls=0", Server("mail.example.com", 25, None, None, False, False)),
        ("smtps://mail.example.com", Server("mail.example.com", 465, None, None, True, False)),
    ],
)
def test_a_mail_server(url: str, meant: Server) -> None:
    assert read("smtp_url", url) == url
    assert server(url) == meant


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.com:25",
        "http://mail.example.com",
        "smtp://",
        "smtp://user:SEEDED/x@mail.example.com:25",
        "smtp://user:SEEDED@mail.example.com:0",
        "smtp://user:SEEDED@mail.example.com:SEEDED",
        "smtp://user:SEEDED x@mail.example.com",
        "smtp://[SEEDED",
    ],
)
def test_what_is_no_mail_server_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(BadSettings, match="TOCSIN_SMTP_URL: must be like smtp://") as caught:
        read("smtp_url", url)
    assert "SEEDED" not in str(caught.value)


@pytest.mark.parametrize(
    ("sender", "address", "domain"),
    [
        ("alerts@example.com", "alerts@example.com", "example.com"),
        ("Tocsin <alerts@example.com>", "alerts@example.com", "example.com"),
        ('"Alerts, all" <alerts@example.com>', "alerts@example.com", "example.com"),
        ("Night (all) <alerts@example.com>", "alerts@example.com", "example.com"),
        ("tocsin@[127.0.0.1]", "tocsin@[127.0.0.1]", "127.0.0.1"),
    ],
)
def test_a_sender(sender: str, address: str, domain: str) -> None:
    text = read("mail_from", sender)
    assert text is not None
    mailer = Mailer("smtp://mail.example.com", text, trust=ssl.create_default_context())
    assert (mailer.address, mailer.domain) == (address, domain)


@pytest.mark.parametrize(
    "sender",
    [
        "alerts",
        "@example.com",
        "a@b, c@d",
        "Tocsin alerts@example.com",
        "Tocsin, all <a@b>",
        "<>",
        "a@b\r\nBcc: c@d",
    ],
)
def test_what_is_no_sender_is_refused(sender: str) -> None:
    with pytest.raises(BadSettings, match="TOCSIN_MAIL_FROM"):
        read("mail_from", sender)


def test_without_them_there_is_no_mail() -> None:
    settings, _ = load(CollectorSettings, [], {})
    assert (settings.smtp_url, settings.mail_from) == (None, None)
