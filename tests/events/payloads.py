"""Payloads of events for tests."""

from collections.abc import Mapping
from typing import Any, cast

from collector.events.core.payloads import EventPayload


def payload_of(json: Mapping[str, Any]) -> EventPayload:
    """Return a payload that is stored as *json*, of which the test needs a few parts only."""
    return cast("EventPayload", json)
