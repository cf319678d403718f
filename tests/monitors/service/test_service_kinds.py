"""Certificates, names and servers of one protocol each: what a configuration may say, and what is hidden."""

from typing import Any

import pytest

from collector.platform.masks import masked
from collector.platform.validation.validation import read, to_json
from shared.kinds import KINDS, load, secret_fields
from shared.secrets import secret_texts

MAIL = {"host": "mail.example.com"}


@pytest.mark.parametrize(
    ("type_", "config"),
    [
        ("tls", {"domain": "example.com"}),
        ("tls", {"domain": "example.com:8443", "expiryDays": 30, "startTls": None}),
        ("tls", {"domain": "https://example.com/path"}),
        ("tls", {"domain": "[2001:db8::1]:443", "serverName": "example.com"}),
        ("dns", {"host": "_sip._tcp.example.com", "recordType": "SRV"}),
        ("dns", {"host": "example.com", "resolver": "192.0.2.53", "expected": ["192.0.2.1"]}),
        ("dns", {"host": "example.com", "resolver": "2001:db8::53", "rcode": "NXDOMAIN"}),
        ("grpc", {"host": "example.com", "port": "50051"}),
        ("websocket", {"url": "wss://example.com/ws?x=1"}),
        ("smtp", {**MAIL, "security": "starttls", "username": "a", "password": "b"}),
        ("imap", MAIL),
        ("pop3", {**MAIL, "port": 1110}),
        ("postgres", {"host": "db.example.com", "tls": True}),
        ("mysql", {"host": "db.example.com"}),
        ("redis", {"host": "cache.example.com", "password": "b"}),
    ],
)
def test_what_can_be_run_is_taken_and_read_back(type_: str, config: dict[str, Any]) -> None:
    found = read(KINDS[type_], config)

    assert (found.faults, found.unknown) == ({}, [])
    assert load(type_, to_json(found.value)) == found.value


@pytest.mark.parametrize(
    ("type_", "config", "faults"),
    [
        ("tls", {}, {"domain": "Domain is required"}),
        ("tls", {"domain": "a b"}, {"domain": "must be a host, a host with a port, or a URL"}),
        ("tls", {"domain": "x:0"}, {"domain": "must be a host, a host with a port, or a URL"}),
        ("tls", {"domain": "https://u:p@x/"}, {"domain": "must be a host, a host with a port, or a URL"}),
        ("tls", {"domain": "x", "expiryDays": -1}, {"expiryDays": "must be between 0 and 3650"}),
        ("tls", {"domain": "x", "minVersion": "1.0"}, {"minVersion": "must be one of 1.2, 1.3"}),
        ("tls", {"domain": "x", "trustedCa": "no"}, {"trustedCa": "must be certificates in PEM"}),
        ("dns", {"host": "192.0.2.1"}, {"host": "must be a name, not an address"}),
        ("dns", {"host": "x", "resolver": "a/b"},
         {"resolver": "must be a host or an IP address, perhaps with a port"}),
        ("dns", {"host": "x", "rcode": "NXDOMAIN", "expected": ["y"]},
         {"expected": "there are no answers with NXDOMAIN"}),
        ("grpc", {"host": "x"}, {"port": "Port is required"}),
        ("websocket", {"url": "http://x"}, {"url": "must be a ws or wss URL, in ASCII and without a login"}),
        ("smtp", {"host": "x", "port": 0}, {"port": "must be between 1 and 65535"}),
        ("imap", {"host": "x", "password": "p"}, {"username": "Username is required"}),
        ("pop3", {"host": "x", "username": "a\r\nDELE 1"}, {"username": "must be without line breaks"}),
        ("postgres", {"host": "x", "username": "a\0b"}, {"username": "must not hold a NUL character"}),
        ("redis", {"host": "x", "username": "a"}, {"password": "Password is required"}),
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_refused_by_field(
    type_: str, config: dict[str, Any], faults: dict[str, str]
) -> None:
    assert read(KINDS[type_], config).faults == faults


@pytest.mark.parametrize("type_", ["smtp", "imap", "pop3", "postgres", "mysql", "redis"])
def test_a_password_is_sealed_masked_and_kept_out_of_evidence(type_: str) -> None:
    config = {"host": "x", "username": "alerts", "password": "correct horse"}

    assert secret_fields(KINDS[type_]) == {"password"}
    assert masked(KINDS[type_], config) == {**config, "password": "********orse"}
    assert "correct horse" in secret_texts(load(type_, config))


def test_what_a_websocket_is_sent_is_secret() -> None:
    assert secret_fields(KINDS["websocket"]) == {"headers", "send"}
