"""Permissions include each other, and a token's life ends."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.platform.access import Permission, counts, needed_for, permits

NOW = datetime(2026, 11, 21, tzinfo=UTC)
EARLIER, LATER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)
READ, WRITE, ADMIN = Permission


@pytest.mark.parametrize(
    ("held", "reaches"),
    [(READ, {READ}), (WRITE, {READ, WRITE}), (ADMIN, {READ, WRITE, ADMIN})],
)
def test_a_permission_includes_the_smaller_ones(held: Permission, reaches: set[Permission]) -> None:
    assert {needed for needed in Permission if permits(held, needed)} == reaches


@pytest.mark.parametrize(
    ("method", "needed"),
    [("GET", READ), ("HEAD", READ), ("POST", WRITE), ("PUT", WRITE), ("PATCH", WRITE), ("DELETE", WRITE)],
)
def test_what_may_change_something_needs_read_write(method: str, needed: Permission) -> None:
    assert needed_for(method) is needed


@pytest.mark.parametrize(
    ("expires_at", "revoked_at", "good"),
    [
        pytest.param(None, None, True, id="never expires"),
        pytest.param(LATER, None, True, id="not yet expired"),
        pytest.param(NOW, None, False, id="expires now"),
        pytest.param(EARLIER, None, False, id="expired"),
        pytest.param(None, EARLIER, False, id="revoked"),
        pytest.param(LATER, LATER, False, id="revoked by another clock"),
    ],
)
def test_a_token_counts_until_its_end(
    expires_at: datetime | None, revoked_at: datetime | None, good: bool
) -> None:
    assert counts(expires_at, revoked_at, NOW) is good
