"""The statuses of an alert."""

from enum import StrEnum


class AlertStatus(StrEnum):
    FIRING = "firing"
    ACKNOWLEDGED = "acknowledged"
    RECOVERED = "recovered"
