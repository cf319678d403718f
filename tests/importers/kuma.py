"""A database of Uptime Kuma, made for tests with the columns that an import reads."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TABLES: Final = {
    "monitor": (
        "id", "name", "active", "interval", "url", "type", "hostname", "port", "keyword",
        "invert_keyword", "maxretries", "retry_interval", "resend_interval", "timeout",
        "upside_down", "ignore_tls", "method", "body", "headers", "http_body_encoding",
        "accepted_statuscodes_json", "maxredirects", "auth_method", "basic_auth_user",
        "basic_auth_pass", "bearer_token", "tls_cert", "tls_key", "json_path",
        "json_path_operator", "expected_value", "dns_resolve_type", "dns_resolve_server",
        "push_token", "database_connection_string", "database_query", "radius_password",
        "grpc_url", "grpc_service_name", "grpc_method", "grpc_enable_tls", "mqtt_topic",
        "parent", "proxy_id", "expiry_notification", "description", "packet_size",
    ),
    "notification": ("id", "name", "active", "is_default", "config"),
    "monitor_notification": ("monitor_id", "notification_id"),
    "tag": ("id", "name", "color"),
    "monitor_tag": ("monitor_id", "tag_id", "value"),
    "proxy": ("id", "protocol", "host", "port", "auth", "username", "password", "active"),
    "status_page": ("id", "slug", "title", "published", "custom_css"),
    "status_page_cname": ("status_page_id", "domain"),
    "group": ("id", "name", "weight", "status_page_id"),
    "monitor_group": ("id", "monitor_id", "group_id", "weight"),
    "maintenance": (
        "id", "title", "description", "active", "strategy", "start_date", "end_date",
        "start_time", "end_time", "weekdays", "days_of_month", "interval_day", "cron",
        "timezone", "duration",
    ),
    "monitor_maintenance": ("monitor_id", "maintenance_id"),
    "setting": ("key", "value"),
    "heartbeat": ("id", "monitor_id", "status", "time"),
}  # fmt: skip


class KumaDatabase:
    """Writes rows; columns that a row leaves out are NULL."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(path)
        for table, columns in TABLES.items():
            self._connection.execute(f'CREATE TABLE "{table}" ({", ".join(map(_quoted, columns))})')

    def add(self, table: str, **row: Any) -> None:
        """Add a row; objects and lists are stored as JSON."""
        values = [json.dumps(value) if isinstance(value, dict | list) else value for value in row.values()]
        marks = ", ".join("?" * len(row))
        self._connection.execute(
            f'INSERT INTO "{table}" ({", ".join(map(_quoted, row))}) VALUES ({marks})', values
        )

    def monitor(self, id_: int, type_: str, *, notifications: Sequence[int] = (), **row: Any) -> None:
        """Add an active monitor with an interval of 60 s, notifying *notifications*."""
        given = {"name": f"Monitor {id_}", "active": 1, "interval": 60, "maxretries": 2, **row}
        self.add("monitor", id=id_, type=type_, **given)
        for notification in notifications:
            self.add("monitor_notification", monitor_id=id_, notification_id=notification)

    def close(self) -> Path:
        """Write the file and return its path."""
        self._connection.commit()
        self._connection.close()
        return self.path


def _quoted(name: str) -> str:
    return f'"{name}"'
