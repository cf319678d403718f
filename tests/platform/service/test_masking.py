"""Secrets are masked for readers, and a mask that is sent back is not taken for a new secret."""

import pytest

from collector.platform.masks import kept, mask, masked, open_parts
from shared.kinds.http import Http
from shared.kinds.web3.bridge import Bridge

CONFIG = {
    "url": "https://shop.example.com/",
    "headers": {"Authorization": "Bearer abcdefgh1234", "X-Short": "tiny"},
    "body": None,
    "auth": {"type": "basic", "username": "", "password": "correct horse battery"},
}


def test_only_the_last_four_characters_of_a_secret_show() -> None:
    shown = masked(Http, CONFIG)

    assert shown == {
        "url": "https://shop.example.com/",
        "headers": {"Authorization": "********1234", "X-Short": "********"},
        "body": None,
        "auth": {"type": "basic", "username": "", "password": "********tery"},
    }


@pytest.mark.parametrize(
    ("secret", "shown"), [("hunter2!", "********er2!"), ("hunter2", "********"), ("", "")]
)
def test_of_a_short_secret_at_least_half_is_hidden(secret: str, shown: str) -> None:
    assert mask(secret) == shown


def test_a_mask_that_comes_back_keeps_what_was_there() -> None:
    sent = {
        "headers": {"Authorization": "********1234", "X-New": "********1234"},
        "auth": {"password": "new"},
    }

    assert kept(sent, CONFIG) == {
        "headers": {"Authorization": "Bearer abcdefgh1234", "X-New": "********1234"},
        "auth": {"password": "new"},
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://shop.example.com/a:b@c", "https://shop.example.com/a:b@c"),
        ("https://robot@shop.example.com:443/", "https://robot@shop.example.com:443/"),
        ("https://[::1]:80/x@y", "https://[::1]:80/x@y"),
        ("https://robot:s@cret:1@shop.example.com/", "https://robot:********@shop.example.com/"),
        ("https://a:b@c.example/?to=https://d:e@f", "https://a:********@c.example/?to=https://d:e@f"),
        ("https://c.example/?to=https://d:e@f", "https://c.example/?to=https://d:e@f"),
        ("https://:secret@[::1]:80?x@y", "https://:********@[::1]:80?x@y"),
        ("https://a.example/?api_key=s3cret&page=2#top", "https://a.example/?api_key=********&page=2#top"),
        ("https://a.example?X-Api-Key=s3=t&b", "https://a.example?X-Api-Key=********&b"),
        ("wss://a.example/?access%5Ftoken=s%20t", "wss://a.example/?access%5Ftoken=********"),
        (
            "https://a.example/?token=one&token=two&sig=",
            "https://a.example/?token=********&token=********&sig=",
        ),
        ("https://a:b@c.example/?sig=s", "https://a:********@c.example/?sig=********"),
        ("https://a.example/?monkey=s&q=token=t#token=u", "https://a.example/?monkey=s&q=token=t#token=u"),
    ],
)
def test_of_a_url_the_secrets_are_hidden(url: str, shown: str) -> None:
    assert masked(Http, {"url": url}) == {"url": shown}
    assert kept({"url": shown}, {"url": url}) == {"url": url}
    assert kept({"url": shown + "&new"}, {"url": url}) == {"url": url + "&new"}


def test_masks_in_a_query_keep_what_has_the_same_name() -> None:
    old = {"url": "https://a.example/?token=one&token=two&key=three"}

    def sent(query: str) -> str:
        return str(kept({"url": f"https://b.example/new?{query}"}, old)["url"]).partition("?")[2]

    assert sent("key=********&page=2&token=********") == "key=three&page=2&token=one"
    assert sent("token=new&token=********") == "token=new&token=two"
    assert sent("sig=********&q=********") == "sig=********&q=********"


def test_masks_in_lists_are_matched_by_their_place_and_else_wherever_they_were() -> None:
    old = ["a secret of some length", "and another one of some size", "short one"]
    first, second, third = map(mask, old)

    assert kept([first, "changed", "added"], old) == [old[0], "changed", "added"]
    assert kept(["put in front", first, second], old) == ["put in front", old[0], old[1]]
    assert kept([second], old) == [old[1]]
    assert kept([third, first], old) == [old[2], old[0]]


def test_of_two_with_the_same_mask_each_keeps_its_place() -> None:
    old = ["the one that ends same", "the other that ends same"]
    assert mask(old[0]) == mask(old[1])

    assert kept([mask(text) for text in old], old) == old


def test_one_text_and_a_list_of_it_are_the_same() -> None:
    secret = "a secret of some length"

    assert kept([mask(secret)], secret) == [secret]
    assert kept(mask(secret), [secret]) == secret
    assert kept(["new"], secret) == ["new"]


SIDE = {"chain": 1, "rpcUrl": ["https://rpc.example.com/key-1234"], "contract": "0x1", "token": "0x2"}


def test_of_an_object_only_the_secrets_in_it_are_masked_and_left_out_of_what_is_open() -> None:
    config = {"source": SIDE, "destination": {**SIDE, "rpcUrl": None}, "maxImbalancePercent": 1.0}
    less = {name: value for name, value in SIDE.items() if name != "rpcUrl"}

    assert masked(Bridge, config) == {**config, "source": {**SIDE, "rpcUrl": ["********1234"]}}
    assert open_parts(Bridge, config) == {"source": less}
    assert kept(masked(Bridge, config), config) == config
