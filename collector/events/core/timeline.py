"""The types of an incident's timeline entries."""

from enum import StrEnum


class TimelineType(StrEnum):
    """An entry's type, as the interface shows it."""

    CREATED = "created"
    ACKNOWLEDGED = "acknowledged"
    UNACKNOWLEDGED = "unacknowledged"
    REOPENED = "reopened"
    RESOLVED = "resolved"
    NOTE_ADDED = "note_added"
    LOCATION_FAILING = "location_failing"
    LOCATION_RECOVERED = "location_recovered"
    PARENT_DOWN = "parent_down"
    SEVERITY_CHANGED = "severity_changed"
    SILENCED = "silenced"
    SNOOZED = "snoozed"
    SNOOZE_ENDED = "snooze_ended"
    MONITOR_DELETED = "monitor_deleted"
    NOTIFIED = "notified"
    ESCALATED = "escalated"
    NOTIFICATION_FAILED = "notification_failed"
