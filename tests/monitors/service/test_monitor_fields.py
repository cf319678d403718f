"""The operator's shortest interval bounds what callers send, and what they leave out."""

from typing import Any

import pytest

from collector.monitors.service.fields import for_create, for_test, for_update
from collector.platform.monitor import MonitorSettings

BODY = {"name": "shop", "type": "tcp", "config": {"host": "db.example.com", "port": 1}}
BAD = {"interval": "must be between 30 and 86400"}


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        pytest.param({"interval": 29}, BAD, id="shorter"),
        pytest.param({"interval": -5}, BAD, id="nonsense"),
        pytest.param({"interval": 30}, {}, id="just as short"),
        pytest.param({}, {}, id="unsaid"),
    ],
)
def test_a_new_monitor_is_held_to_it(fields: dict[str, Any], faults: dict[str, str]) -> None:
    assert for_create({**BODY, **fields}, 30).faults == faults


def test_the_default_gives_way_to_it() -> None:
    settings, _ = for_create(BODY, 300).checked()

    assert settings.interval == 300


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        pytest.param({"interval": 20}, BAD, id="a change is held to it"),
        pytest.param({"interval": 10}, {}, id="what was there before stays"),
        pytest.param({"name": "other"}, {}, id="and is no matter when others change"),
    ],
)
def test_an_older_monitor_may_keep_a_shorter_one(body: dict[str, Any], faults: dict[str, str]) -> None:
    before = MonitorSettings(name="shop", interval=10, locations=["local"])

    assert for_update(body, "tcp", before, {"host": "x", "port": 1}, 30).faults == faults


def test_a_test_ignores_what_only_a_monitor_has() -> None:
    request = for_test({**BODY, "interval": 0, "tags": {"a": "b"}, "nope": 1, "timeout": 3})

    assert request.unknown == ["nope"]
    assert request.checked()[0].timeout == 3
