"""Which complaints are only of a certificate's coming end, and how many days are left."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.history.core.certificate import days_left, only_nears

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NEARS = "tls: certificate expires in 9 days, 14 are wanted"


@pytest.mark.parametrize(
    ("complaints", "only"),
    [
        pytest.param([NEARS], True, id="it nears its end"),
        pytest.param(["tls: certificate expires in 1 day, 3650 are wanted"], True, id="tomorrow"),
        pytest.param([NEARS, NEARS], True, id="as two locations see it"),
        pytest.param([], False, id="nobody complains"),
        pytest.param([NEARS, "connect: refused by 192.0.2.1:443"], False, id="one cannot even connect"),
        pytest.param(["tls: certificate expired 2 days ago"], False, id="it is over"),
        pytest.param(["tls: self-signed certificate (9 days left)"], False, id="it is bad besides"),
        pytest.param([f"smtp: 554 {NEARS}"], False, id="a server that says so is no probe"),
        pytest.param([f"{NEARS} or so"], False, id="nor is one that says more"),
    ],
)
def test_only_a_coming_end_is_less_than_a_failure(complaints: list[str], *, only: bool) -> None:
    assert only_nears(complaints) is only


@pytest.mark.parametrize(
    ("ahead", "days"),
    [
        (timedelta(days=9, hours=23), 9),
        (timedelta(days=1), 1),
        (timedelta(hours=23), 0),
        (timedelta(seconds=-1), -1),
    ],
)
def test_days_left_are_whole_ones(ahead: timedelta, days: int) -> None:
    assert days_left(NOW + ahead, NOW) == days
