"""Timestamps as the interface shows them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.clock import iso

PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (datetime(2026, 11, 21, 7, 24, tzinfo=UTC), "2026-11-21T07:24:00.000Z"),
        (datetime(2026, 11, 21, 9, 24, 1, 999_999, tzinfo=PLUS_TWO), "2026-11-21T07:24:01.999Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_utc_milliseconds_and_always_z(moment: datetime, shown: str) -> None:
    assert iso(moment) == shown
