"""Links in mails to subscribers: good for one of them, for one thing, and some only for a while."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as some

from collector.status_pages.core.links import confirming, holds, is_over, managing, read
from shared.ids import uuid7

SECRET, OTHER = b"s" * 32, b"o" * 32
NOW = datetime(2026, 11, 21, 7, 24, tzinfo=UTC)


@given(some.uuids(), some.binary(min_size=32, max_size=32))
def test_what_was_signed_is_read_back_and_holds(id_: UUID, secret: bytes) -> None:
    for text in (managing(secret, id_), confirming(secret, id_, NOW)):
        link = read(text)
        assert link is not None
        assert link.subscriber_id == id_
        assert holds(link, secret)


@pytest.mark.parametrize("make", [managing, lambda secret, id_: confirming(secret, id_, NOW)])
def test_another_secret_or_subscriber_makes_another_link(make: object) -> None:
    assert callable(make)
    one, two = uuid7(), uuid7()
    link = read(make(SECRET, one))
    assert link is not None
    assert not holds(link, OTHER)
    moved = read(make(SECRET, one).replace(make(SECRET, one)[:30], make(SECRET, two)[:30]))
    assert moved is not None
    assert not holds(moved, SECRET)


def test_one_that_confirms_cannot_be_made_to_last() -> None:
    id_ = uuid7()
    head, until, signature = confirming(SECRET, id_, NOW).split(".")
    for text in (f"{head}.{signature}", f"{head}.{int(until) + 3600}.{signature}"):
        link = read(text)
        assert link is not None
        assert not holds(link, SECRET)


def test_one_that_confirms_is_over_after_48_hours_and_the_other_never() -> None:
    id_ = uuid7()
    confirm, manage = read(confirming(SECRET, id_, NOW)), read(managing(SECRET, id_))
    assert confirm is not None
    assert manage is not None
    assert not is_over(confirm, NOW + timedelta(hours=47, minutes=59))
    assert is_over(confirm, NOW + timedelta(hours=48))
    assert not is_over(manage, NOW + timedelta(days=10_000))


@given(some.text())
def test_any_other_text_is_no_link(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    ["", "sub_.", "sub_" + "z" * 26 + "." + "0" * 40, "sub_" + "0" * 26 + ".0." + "0" * 40, "sub_é" * 9],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert read(text) is None
