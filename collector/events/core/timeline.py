"""The types of an incident's timeline entries that the system makes."""

from enum import StrEnum


class TimelineType(StrEnum):
    """An entry's type, as the interface shows it."""

    CREATED = "created"
    REOPENED = "reopened"
    RESOLVED = "resolved"
    LOCATION_FAILING = "location_failing"
    LOCATION_RECOVERED = "location_recovered"
    PARENT_DOWN = "parent_down"
    SEVERITY_CHANGED = "severity_changed"
