"""The rules of a console session: who asks, where they may go, and which forms are theirs."""

import pytest

from collector.console.session import fits, form_token, network, permission, safe_next, same_origin
from collector.platform.access import Permission

PUBLIC = "https://tocsin.example.com"


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        pytest.param("https://tocsin.example.com", "collector:8080", True, id="public, behind a proxy"),
        pytest.param("http://collector:8080", "collector:8080", True, id="the host that was asked"),
        pytest.param("http://tocsin.example.com", "collector:8080", False, id="public, but not by https"),
        pytest.param("https://tocsin.example.com:444", "collector:8080", False, id="another port"),
        pytest.param("https://tocsin.example.com.evil.example", "collector:8080", False, id="another end"),
        pytest.param("https://user@tocsin.example.com", "collector:8080", False, id="with a user"),
        pytest.param("null", "null", False, id="null"),
        pytest.param(None, "collector", False, id="none"),
        pytest.param("", "", False, id="nothing"),
        pytest.param("file://", "", False, id="a file"),
        pytest.param("ftp://collector:8080", "collector:8080", False, id="another scheme"),
        pytest.param("http://[", "collector", False, id="no URL"),
    ],
)
def test_an_origin_is_ours_or_it_is_not(origin: str | None, host: str, same: bool) -> None:
    assert same_origin(origin, host, PUBLIC) is same


@pytest.mark.parametrize(
    ("asked", "goes"),
    [
        ("/monitors?page=2", "/monitors?page=2"),
        (None, "/"),
        ("", "/"),
        ("monitors", "/"),
        ("//evil.example.com", "/"),
        ("/\\evil.example.com", "/"),
        ("https://evil.example.com", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("/a b", "/"),
        ("/" + "a" * 3000, "/"),
        ("/\t/evil.example.com", "/"),
    ],
)
def test_after_the_door_nobody_leaves_the_house(asked: str | None, goes: str) -> None:
    assert safe_next(asked) == goes


def test_a_form_s_token_is_of_one_session() -> None:
    token = form_token("cookie", b"nonce")

    assert fits("cookie", token)
    assert not fits("another", token)
    assert not fits("cookie", token + "0")
    assert not fits("cookie", token.replace(".", ""))
    assert not fits("cookie", "zz." + token)
    assert not fits("", "")


@pytest.mark.parametrize(
    ("role", "token", "held"),
    [
        ("admin", None, Permission.ADMIN),
        ("viewer", None, Permission.READ_ONLY),
        ("admin", Permission.READ_ONLY, Permission.READ_ONLY),
        ("viewer", Permission.ADMIN, Permission.READ_ONLY),
        ("editor", Permission.READ_WRITE, Permission.READ_WRITE),
    ],
)
def test_a_session_permits_what_role_and_token_both_do(
    role: str, token: Permission | None, held: Permission
) -> None:
    assert permission(role, token) is held


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("", "unix", False),
    ],
)
def test_one_client_is_one_network(one: str, other: str, same: bool) -> None:
    assert (network(one) == network(other)) is same
