"""Reads what people name on a command line: monitors, incidents, durations, numbers."""

import re
from collections.abc import Mapping
from typing import Any, Final

from client.api import Api
from shared import ids
from shared.errors import NotFound

_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,7})([smhd]?)")
_MOST: Final = 100_000
_SAME_NAME: Final = 1_000


def monitor(api: Api, named: str) -> str:
    """Return the id of the monitor with this id or name. Raises NotFound if there is none, or several."""
    if ids.read("mon", named) is not None:
        return named
    found = api.all("/monitors", _SAME_NAME, search=named)
    exact = [item for item in found if item["name"] == named]
    alike = exact or [item for item in found if item["name"].casefold() == named.casefold()]
    if len(alike) != 1:
        names = ", ".join(item["name"] for item in found[:5])
        hint = f"; there is {names}" if found and not alike else ""
        raise NotFound(f"{'several monitors are' if alike else 'no monitor is'} called {named}{hint}")
    return str(alike[0]["id"])


def incident(api: Api, named: str) -> str:
    """Return the id of an incident; *named* is one, or a monitor, whose newest unresolved incident is meant.

    Raises NotFound.
    """
    if ids.read("inc", named) is not None:
        return named
    listed = api.all("/incidents", _SAME_NAME, monitor_id=monitor(api, named))
    for item in listed:
        if item["status"] != "resolved":
            return str(item["id"])
    raise NotFound(f"no incident of {named} is unresolved")


def target(config: Mapping[str, Any]) -> str:
    """Return what a monitor checks, from its configuration."""
    if "url" in config:
        return str(config["url"])
    host = config.get("host") or config.get("domain") or config.get("address") or ""
    return f"{host}:{config['port']}" if host and config.get("port") else str(host)


def seconds(text: str) -> int:
    """Return the seconds of ``30m``, ``2h``, ``1d`` or ``45``. Raises ValueError."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("must be a duration such as 30m, 2h or 1d")
    return int(match[1]) * _SECONDS[match[2] or "s"]


def count(text: str) -> int:
    """Return a number of items. Raises ValueError."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _MOST):
        raise ValueError(f"must be a number from 1 to {_MOST}")
    return int(text)
