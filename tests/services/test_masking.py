"""Secrets are masked for readers, and a mask that is sent back is not taken for a new secret."""

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


def test_masks_in_lists_are_matched_by_their_place() -> None:
    old = ["a secret of some length", "another of some length"]

    assert kept([mask(old[0]), "changed", "added"], old) == [old[0], "changed", "added"]
