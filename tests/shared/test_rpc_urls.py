"""The deployment's Web3 nodes are read by the chains that they are of, and never quoted."""

import pytest

from shared.rpc_urls import parse


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("ethereum=https://a.example.com/k", {1: ("https://a.example.com/k",)}),
        (
            " Ethereum = https://a.example.com , http://b.example.com:8545 ; polygon=https://c.example.com; ",
            {1: ("https://a.example.com", "http://b.example.com:8545"), 137: ("https://c.example.com",)},
        ),
        (
            "1=https://a.example.com;0x89=https://b.example.com",
            {1: ("https://a.example.com",), 137: ("https://b.example.com",)},
        ),
        ("31337=http://127.0.0.1:8545", {31337: ("http://127.0.0.1:8545",)}),
        (
            "eth=https://a.example.com;1=https://b.example.com,https://a.example.com",
            {1: ("https://a.example.com", "https://b.example.com")},
        ),
        ("ethereum=https://a.example.com/?key=1=2", {1: ("https://a.example.com/?key=1=2",)}),
    ],
)
def test_nodes_by_chain(text: str, nodes: dict[int, tuple[str, ...]]) -> None:
    assert parse(text) == nodes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("narnia=https://a.example.com", "narnia is no chain's name or id"),
        ("0=https://a.example.com", "0 is no chain's name or id"),
        ("ethereum=", "ethereum names no URL"),
        ("ethereum", "ethereum names no URL"),
        ("ethereum=https://a.example.com,", "ethereum: URL 2 is no http:// or https:// URL"),
        ("ethereum=ws://a.example.com", "ethereum: URL 1 is no http:// or https:// URL"),
        (
            "narnia=x;polygon=",
            (
                "narnia is no chain's name or id; narnia: URL 1 is no http:// or https:// URL; "
                "polygon names no URL"
            ),
        ),
        (";", "must be like ethereum=https://...,https://...;polygon=https://..."),
        ("=https://a.example.com", "must be like ethereum=https://...,https://...;polygon=https://..."),
    ],
)
def test_all_that_is_wrong_is_told_at_once(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse(text)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    "text",
    [
        "https://rpc.example.com/SECRET",
        "https://rpc.example.com/SECRET?x=1",
        "ethereum=https://rpc.example.com:99999/SECRET",
        "ethereum=https://[rpc.example.com/SECRET",
        "ethereum=https://a.example.com https://rpc.example.com/SECRET",
        "https://rpc.example.com/SECRET=ethereum",
    ],
)
def test_no_message_holds_a_url(text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse(text)
    assert "SECRET" not in str(caught.value)
    assert "example.com" not in str(caught.value)
