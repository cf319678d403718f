"""The console's pages about reports: path, view and permission of each."""

from typing import Final

from collector.http.auth import Handler
from collector.reports.console import editions, reports

_HERE: Final = "/reports"
_ONE: Final = f"{_HERE}/{{id}}"
_EDITION: Final = f"{_HERE}/{{reportId}}/editions/{{editionId}}"

# Method, path and view; then the equivalent method and path below /v1.
ROWS: Final[tuple[tuple[str, str, Handler, str, str], ...]] = (
    ("GET", _HERE, reports.list_, "GET", _HERE),
    ("POST", _HERE, reports.create, "POST", _HERE),
    ("GET", f"{_HERE}/new", reports.new, "POST", _HERE),
    ("GET", _ONE, reports.show, "GET", _ONE),
    ("GET", f"{_ONE}/edit", reports.edit, "PUT", _ONE),
    ("POST", f"{_ONE}/edit", reports.update, "PUT", _ONE),
    ("POST", f"{_ONE}/delete", reports.delete, "DELETE", _ONE),
    ("POST", f"{_ONE}/editions", reports.make, "POST", f"{_ONE}/editions"),
    ("GET", _EDITION, editions.show, "GET", _EDITION),
    ("GET", f"{_EDITION}/csv", editions.csv, "GET", f"{_EDITION}/csv"),
    ("GET", f"{_EDITION}/pdf", editions.pdf, "GET", f"{_EDITION}/pdf"),
    ("GET", f"{_EDITION}/json", editions.json, "GET", _EDITION),
)
