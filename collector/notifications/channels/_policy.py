"""Retry policy of services that reach people: for half an hour, no sooner than they ask."""

from typing import Final

from collector.notifications.core.retry import RetryPolicy

PATIENT: Final = RetryPolicy(max_retries=8, obliging=True)
