"""Reads the database of Uptime Kuma, which is opened read-only."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from collector.importers.core.draft import WrongSource
from collector.importers.core.uptime_kuma import Source, folded

_MOST_ROWS: Final = 200_000
# Its tables by the names of `Source`.
_TABLES: Final = {
    "monitors": "monitor",
    "notifications": "notification",
    "monitor_notifications": "monitor_notification",
    "tags": "tag",
    "monitor_tags": "monitor_tag",
    "proxies": "proxy",
    "pages": "status_page",
    "page_domains": "status_page_cname",
    "page_groups": "group",
    "page_monitors": "monitor_group",
    "windows": "maintenance",
    "window_monitors": "monitor_maintenance",
}
_COUNTED: Final = {"heartbeat": "heartbeats", "stat_daily": "days of statistics", "incident": "incidents"}


def read(path: Path) -> Source:
    """Return the rows of its tables. Raises WrongSource if it is no database of Kuma."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            return _source(connection)
    except sqlite3.Error as error:
        raise WrongSource(f"cannot be read as SQLite: {error}") from None


def _source(connection: sqlite3.Connection) -> Source:
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "monitor" not in there:
        raise WrongSource("is no database of Uptime Kuma: it has no table monitor")
    source = Source()
    for name, table in _TABLES.items():
        if table in there:
            setattr(source, name, _rows(connection, table))
    if "setting" in there:
        source.settings = {str(row["key"]): row["value"] for row in _rows(connection, "setting")}
    for table, noun in _COUNTED.items():
        if table in there:
            source.behind[noun] = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
    return source


def _rows(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    cursor = connection.execute(f'SELECT * FROM "{table}" LIMIT {_MOST_ROWS + 1}')
    rows = [folded(dict(row)) for row in cursor]
    if len(rows) > _MOST_ROWS:
        raise WrongSource(f"its table {table} has more than {_MOST_ROWS} rows")
    return rows
