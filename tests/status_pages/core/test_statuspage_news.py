"""What an update is to subscribers, and when maintenance goes on by itself."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from collector.status_pages.core.news import Occasion, by_itself, next_mail, published, reminds, updated
from collector.status_pages.core.status_page import Phase, Severity

NOW = datetime(2026, 11, 21, 7, 24, tzinfo=UTC)
SOON, BEFORE = NOW + timedelta(hours=1), NOW - timedelta(hours=1)


@pytest.mark.parametrize(
    ("severity", "start", "occasion"),
    [
        pytest.param("major", None, "published", id="an incident"),
        pytest.param("maintenance", SOON, "planned", id="to come"),
        pytest.param("maintenance", BEFORE, "begun", id="has begun already"),
        pytest.param("maintenance", None, "begun", id="without a time it is now"),
    ],
)
def test_what_is_said_first(severity: Severity, start: datetime | None, occasion: Occasion) -> None:
    assert published(severity, start, NOW) == occasion


@pytest.mark.parametrize(
    ("severity", "before", "after", "occasion"),
    [
        pytest.param("minor", "investigating", "identified", "updated", id="goes on"),
        pytest.param("minor", "monitoring", "resolved", "resolved", id="is over"),
        pytest.param("minor", "resolved", "resolved", "updated", id="more about what is over"),
        pytest.param("minor", "resolved", "investigating", "updated", id="opens again"),
        pytest.param("maintenance", "investigating", "investigating", "updated", id="more about the plan"),
        pytest.param("maintenance", "investigating", "identified", "begun", id="begins"),
        pytest.param("maintenance", "identified", "monitoring", "updated", id="goes on, planned"),
        pytest.param("maintenance", "identified", "resolved", "done", id="is done"),
    ],
)
def test_what_is_said_later(severity: Severity, before: Phase, after: Phase, occasion: Occasion) -> None:
    assert updated(severity, before, after) == occasion


@pytest.mark.parametrize(
    ("status", "start", "end", "phase"),
    [
        pytest.param("investigating", SOON, None, None, id="not yet"),
        pytest.param("investigating", NOW, SOON, "identified", id="begins"),
        pytest.param("identified", BEFORE, SOON, None, id="is under way"),
        pytest.param("monitoring", BEFORE, NOW, "resolved", id="ends"),
        pytest.param("investigating", BEFORE, BEFORE, "resolved", id="both were missed"),
        pytest.param("resolved", BEFORE, BEFORE, None, id="was ended by hand"),
        pytest.param("identified", BEFORE, None, None, id="has no end"),
        pytest.param("investigating", None, None, None, id="has no times"),
    ],
)
def test_what_maintenance_does_by_itself(
    status: Phase, start: datetime | None, end: datetime | None, phase: Phase | None
) -> None:
    found = by_itself(status, start, end, NOW)

    assert (found and found[0]) == phase


def test_a_mail_is_tried_ever_more_rarely() -> None:
    waits = [next_mail(tries) for tries in range(1, 20)]

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (timedelta(seconds=30), timedelta(hours=1))


HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("changed", "due"),
    [
        pytest.param({}, True, id="an hour ahead"),
        pytest.param({"now": NOW - timedelta(seconds=1)}, False, id="earlier"),
        pytest.param({"now": NOW + HOUR}, False, id="it has begun"),
        pytest.param({"reminded_at": NOW - HOUR}, False, id="reminded already"),
        pytest.param(
            {"updated_at": NOW + timedelta(minutes=1), "now": NOW + HOUR / 2}, False, id="just told"
        ),
        pytest.param({"minutes": None}, False, id="not asked for"),
        pytest.param({"start": None}, False, id="no time"),
        pytest.param({"status": "identified"}, False, id="begun by hand"),
    ],
)
def test_when_subscribers_are_reminded(changed: dict[str, Any], due: bool) -> None:
    usual = {"status": "investigating", "start": NOW + HOUR, "minutes": 60, "reminded_at": None}

    assert reminds(**{**usual, "updated_at": NOW - HOUR, "now": NOW, **changed}) is due
