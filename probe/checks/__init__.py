"""How each kind of monitor is checked: the table, by the type's name."""

from collections.abc import Callable
from typing import Any

from probe.checks._check import Check as Check
from probe.checks.http import prepare as prepare_http
from probe.checks.tcp import prepare as prepare_tcp

# Each makes a check of its own kind's configuration (shared.kinds).
CHECKS: dict[str, Callable[[Any], Check]] = {
    "http": prepare_http,
    "tcp": prepare_tcp,
}
