"""Asks PostgreSQL who waits for a lock, in the test's own database: others run beside it on the server."""

from typing import Final

WAITING: Final = """
    SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1
"""
