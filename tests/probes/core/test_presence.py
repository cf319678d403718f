"""When the owner of a probe is notified that it is gone, sees nothing, or is back."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from collector.probes.core.presence import Presence, PresenceChange, change
from shared.clock import utc_now

NOW = utc_now()
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
LONG_AGO = NOW - timedelta(hours=1)

HERE = Presence(NOW - SECOND, None, stopped=False, blind_since=None, draining=False, notified=False)
SILENT = replace(HERE, seen_at=NOW - 2 * MINUTE)
ENDED = replace(HERE, seen_at=NOW - 3 * MINUTE, ended_at=NOW - 2 * MINUTE)
BLIND = replace(HERE, blind_since=NOW - 2 * MINUTE)


@pytest.mark.parametrize(
    ("one", "since", "what"),
    [
        pytest.param(HERE, LONG_AGO, None, id="one that is there is nothing to tell of"),
        pytest.param(SILENT, LONG_AGO, PresenceChange.LOST, id="silent for two minutes: lost"),
        pytest.param(replace(SILENT, seen_at=NOW - 119 * SECOND), LONG_AGO, None, id="not yet"),
        pytest.param(ENDED, LONG_AGO, PresenceChange.LOST, id="its stream broke off two minutes ago: lost"),
        pytest.param(replace(ENDED, stopped=True), LONG_AGO, PresenceChange.STOPPED, id="it was stopped"),
        pytest.param(replace(ENDED, ended_at=NOW - MINUTE), LONG_AGO, None, id="it may come back"),
        pytest.param(
            BLIND, LONG_AGO, PresenceChange.BLIND, id="connected, but it sees nothing for two minutes"
        ),
        pytest.param(replace(BLIND, blind_since=NOW - MINUTE), LONG_AGO, None, id="a short blindness"),
        pytest.param(SILENT, NOW - MINUTE, None, id="silence counts only while somebody listened"),
        pytest.param(
            SILENT, NOW - 2 * MINUTE, PresenceChange.LOST, id="and does when it did so for two minutes"
        ),
        pytest.param(BLIND, NOW - MINUTE, None, id="so does blindness"),
        pytest.param(replace(SILENT, draining=True), LONG_AGO, None, id="one that drains is meant to go"),
        pytest.param(replace(SILENT, notified=True), LONG_AGO, None, id="its owner is notified once"),
        pytest.param(replace(BLIND, notified=True), LONG_AGO, None, id="blind and back is not back"),
        pytest.param(replace(HERE, notified=True), LONG_AGO, PresenceChange.BACK, id="it is back"),
        pytest.param(
            replace(HERE, notified=True), NOW, PresenceChange.BACK, id="its owner is notified of that at once"
        ),
        pytest.param(
            replace(HERE, notified=True, draining=True),
            LONG_AGO,
            PresenceChange.BACK,
            id="of one that drains, too",
        ),
        pytest.param(
            replace(SILENT, seen_at=NOW + 5 * MINUTE, notified=True),
            LONG_AGO,
            None,
            id="heard in the future: a clock was set, and nobody knows",
        ),
    ],
)
def test_what_is_told(one: Presence, since: datetime, what: PresenceChange | None) -> None:
    assert change(one, since, NOW) == what
