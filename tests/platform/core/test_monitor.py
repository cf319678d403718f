"""Changes merge as RFC 7396 says, and the shown status follows pauses."""

from datetime import UTC, datetime
from typing import Any

import pytest

from collector.platform.monitor import is_slug, merge, status

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("current", "patch", "merged"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="replaces"),
        pytest.param({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}, id="adds"),
        pytest.param({"a": "b"}, {"a": None}, {}, id="null removes"),
        pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="null removes that one only"),
        pytest.param({"a": ["b"]}, {"a": "c"}, {"a": "c"}, id="a list gives way to a text"),
        pytest.param({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}, id="a text gives way to a list"),
        pytest.param(
            {"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}, id="objects merge too"
        ),
        pytest.param({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}, id="lists are replaced whole"),
        pytest.param({"e": None}, {"a": 1}, {"e": None, "a": 1}, id="a null that was there stays"),
        pytest.param({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}, id="nulls of a new object vanish"),
        pytest.param({"a": 1}, {}, {"a": 1}, id="nothing changes nothing"),
    ],
)
def test_merge(current: dict[str, Any], patch: dict[str, Any], merged: dict[str, Any]) -> None:
    before = dict(current)

    assert merge(current, patch) == merged
    assert current == before


@pytest.mark.parametrize(
    ("paused_at", "down", "last_at", "shown"),
    [
        pytest.param(None, False, None, "up", id="new"),
        pytest.param(None, False, NOON, "up", id="measured and well"),
        pytest.param(None, True, NOON, "down", id="measured and down"),
        pytest.param(None, True, None, "up", id="resumed while its incident goes on: up until measured"),
        pytest.param(NOON, True, NOON, "paused", id="paused hides all else"),
    ],
)
def test_status(paused_at: datetime | None, down: bool, last_at: datetime | None, shown: str) -> None:
    assert status(paused_at=paused_at, down=down, last_at=last_at) == shown


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("local", True),
        ("eu-west-1", True),
        ("0", True),
        ("a" * 63, True),
        ("a" * 64, False),
        ("", False),
        ("-a", False),
        ("EU", False),
        ("a b", False),
        ("ä", False),
    ],
)
def test_slugs(text: str, good: bool) -> None:
    assert is_slug(text) is good
