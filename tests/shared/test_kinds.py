"""Kinds say what a monitor of their type may hold, and are read without pydantic."""

from typing import Any

import pytest

from shared.kinds import KINDS, UMBRELLA, WEB3, effective, load, secret_fields
from shared.kinds.fields import camel, is_host
from shared.kinds.http import Auth, Http, are_headers, is_url, status_ranges
from shared.kinds.tcp import Tcp


def test_the_umbrella_stands_over_types_and_is_none_itself() -> None:
    assert set(WEB3) <= set(KINDS)
    assert UMBRELLA not in KINDS


@pytest.mark.parametrize(
    ("type_", "sub_type", "meant"),
    [
        *((UMBRELLA, name, name) for name in WEB3),
        (UMBRELLA, "contract_event", "web3_contract_event"),
        ("gas_price", "gas_price", "gas_price"),
        ("web3_contract_event", "contract_event", "web3_contract_event"),
        ("http", "gas_price", "http"),
    ],
)
def test_what_is_checked_under_the_umbrella_is_said_by_its_sub_type(
    type_: str, sub_type: str, meant: str
) -> None:
    assert effective(type_, {"subType": sub_type}) == meant


@pytest.mark.parametrize("config", [{}, {"subType": None}, {"subType": "tarot"}, {"subType": ["gas_price"]}])
def test_an_umbrella_over_nothing_is_an_error(config: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        load(UMBRELLA, config)


def test_what_was_stored_is_read_back_with_nested_parts_and_defaults() -> None:
    stored = {
        "url": "http://a.example.com/",
        "verifyTls": False,
        "auth": {"type": "bearer", "token": "t"},
        "laterField": 1,
    }

    assert load("http", stored) == Http(
        url="http://a.example.com/", verify_tls=False, auth=Auth(type="bearer", token="t")
    )
    assert load("tcp", {"host": "a.example.com", "port": 1}) == Tcp(host="a.example.com", port=1)


def test_an_unknown_type_and_a_missing_field_are_errors() -> None:
    with pytest.raises(KeyError):
        load("nope", {})
    with pytest.raises(TypeError, match="Tcp lacks port"):
        load("tcp", {"host": "x"})


def test_what_may_hold_credentials_is_secret() -> None:
    assert secret_fields(Http) == {"headers", "body", "auth", "clientCert", "clientKey"}
    assert secret_fields(Tcp) == {"send"}


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("http://a", True),
        ("https://a.example.com:8443/x?y=1#z", True),
        ("http://127.0.0.1/", True),
        ("http://[::1]:8080/", True),
        ("http://user:word@a.example.com/", True),
        ("http://bücher.example.com/", True),
        ("HTTP://A.EXAMPLE.COM/", True),
        ("", False),
        ("a.example.com", False),
        ("ftp://a", False),
        ("http://", False),
        ("http:///x", False),
        ("http://a:0/", False),
        ("http://a:65536/", False),
        ("http://a:b/", False),
        ("http://a b/", False),
        ("http://a/\r\nX: y", False),
        ("http://-a-/", False),
        ("http://[::1/", False),
    ],
)
def test_urls(text: str, good: bool) -> None:
    assert is_url(text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("a", True),
        ("a.example.com.", True),
        ("_svc.example.com", True),
        ("10.0.0.1", True),
        ("::1", True),
        ("[::1]", True),
        ("", False),
        (".", False),
        ("a..b", False),
        ("a" * 64, False),
        (".".join(["a" * 60] * 5), False),
        ("a/b", False),
        ("a:80", False),
    ],
)
def test_hosts(text: str, good: bool) -> None:
    assert is_host(text) is good


@pytest.mark.parametrize(
    ("headers", "good"),
    [
        ({}, True),
        ({"X-Any": "value", "Host": "other.example.com"}, True),
        ({"": "x"}, False),
        ({"X Y": "x"}, False),
        ({"X": "a\r\nY: b"}, False),
        ({"Content-Length": "1"}, True),
    ],
)
def test_headers(headers: dict[str, str], good: bool) -> None:
    assert are_headers(headers) is good


@pytest.mark.parametrize(
    ("spec", "ranges"),
    [
        (None, ((200, 299),)),
        (503, ((503, 503),)),
        ("200 - 299", ((200, 299),)),
        ([200, "300-308"], ((200, 200), (300, 308))),
    ],
)
def test_status_ranges(spec: Any, ranges: tuple[tuple[int, int], ...]) -> None:
    assert status_ranges(spec) == ranges


@pytest.mark.parametrize("spec", [99, 600, "2xx", "299-200", "", [200, "x"]])
def test_what_is_no_status_range(spec: Any) -> None:
    with pytest.raises(ValueError, match="range"):
        status_ranges(spec)


def test_names_in_json_are_camel_case() -> None:
    assert [camel(name) for name in ("url", "expected_status", "max_body_bytes")] == [
        "url",
        "expectedStatus",
        "maxBodyBytes",
    ]
