"""How often those services are tried that reach people: for half an hour, and as they ask to be."""

from typing import Final

from collector.notifications.core.retry import RetryPolicy

PATIENT: Final = RetryPolicy(max_retries=8, obliging=True)
