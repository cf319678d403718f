"""Secrets are masked for readers, and a mask that is sent back is not taken for a new secret."""

import pytest

from collector.services.masking import kept, mask, masked
from shared.kinds.http import Http

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
    ],
)
def test_of_a_url_the_password_is_hidden(url: str, shown: str) -> None:
    assert masked(Http, {"url": url}) == {"url": shown}
    assert kept({"url": shown}, {"url": url}) == {"url": url}
    assert kept({"url": shown + "/new"}, {"url": url}) == {"url": url + "/new"}


def test_masks_in_lists_are_matched_by_their_place() -> None:
    old = ["a secret of some length", "another of some length"]

    assert kept([mask(old[0]), "changed", "added"], old) == [old[0], "changed", "added"]
