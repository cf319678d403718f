"""``tocsin monitors``: lists, shows, checks, pauses and silences monitors through the API."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Any, Final

from client import choices, output
from client.api import Api
from client.output import age
from client.profile import begin
from shared.errors import Unavailable
from shared.kinds import TYPES

_ACTIONS: Final = ("list", "show", "check", "pause", "resume", "silence", "unsilence")
_BAD: Final = 1
_LISTED: Final = 3
_UNKNOWN: Final = 3
_USAGE: Final = """tocsin monitors list [--status S] [--type T] [--group G] [--tag TAG] [--search TEXT]
       tocsin monitors show | check | pause | resume | unsilence MONITOR
       tocsin monitors silence MONITOR [--for TIME] [--reason TEXT]"""


def main(argv: list[str]) -> int:
    """Run the action; see the help page for its exit status."""
    own, api = begin(_parser(), argv, _faults)
    if own.action == "list":
        return _list(api, own)
    monitor = choices.monitor(api, own.monitor)
    if own.action == "show":
        return _show(api, monitor, as_json=own.json)
    if own.action == "check":
        return _check(api, monitor, as_json=own.json)
    return _change(api, monitor, own)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin monitors",
        usage=_USAGE,
        allow_abbrev=False,
        epilog="Exit status: 0 done; 1 refused, or the check failed; 2 misuse; 3 the check could not be run, "
        "or, with --exit-code, something is listed.",
    )
    parser.add_argument("action", choices=_ACTIONS, help="list, or what to do with one monitor")
    parser.add_argument("monitor", nargs="?", metavar="MONITOR", help="its id, or its name if that is unique")
    parser.add_argument(
        "--status", choices=["up", "down", "paused"], help="list: only those with this status"
    )
    parser.add_argument("--type", choices=list(TYPES), metavar="TYPE", help="list: only those of this type")
    parser.add_argument("--group", help="list: only those of this group")
    parser.add_argument("--tag", help="list: only those with this tag: its name, or name:value")
    parser.add_argument("--search", metavar="TEXT", help="list: only those with this in their name")
    parser.add_argument(
        "--limit", type=choices.count, default="1000", metavar="N", help="list: how many (1000)"
    )
    parser.add_argument("--exit-code", action="store_true", help="list: exit with 3 if something is listed")
    parser.add_argument(
        "--for", dest="time", type=choices.seconds, metavar="TIME", help="silence: 30m, 2h, 1d (1h)"
    )
    parser.add_argument("--reason", help="silence: why, for the others")
    parser.add_argument("--json", action="store_true", help="print the API's answer as JSON")
    return parser


def _faults(values: Mapping[str, Any]) -> Iterator[str]:
    action, monitor = values.get("action"), values.get("monitor")
    if action is not None and (monitor is None) != (action == "list"):
        yield f"MONITOR: {'is not asked for by list; see --search' if monitor else 'is required'}"


def _list(api: Api, own: argparse.Namespace) -> int:
    monitors = api.all(
        "/monitors",
        own.limit,
        status=own.status,
        type=own.type,
        group=own.group,
        tag=own.tag,
        search=own.search,
    )
    if own.json:
        output.write_json(monitors)
    else:
        heads = ("ID", "NAME", "TYPE", "STATUS", "INTERVAL", "CHECKED", "GROUP")
        output.write_table(heads, map(_row, monitors))
    return _LISTED if own.exit_code and monitors else 0


def _row(monitor: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        monitor["id"],
        monitor["name"],
        monitor["type"],
        monitor["status"],
        output.duration(monitor["interval"]),
        age(monitor["lastCheckedAt"]),
        monitor["group"] or "",
    )


def _show(api: Api, monitor_id: str, *, as_json: bool) -> int:
    monitor = api.get(f"/monitors/{monitor_id}")
    if as_json:
        output.write_json(monitor)
        return 0
    output.write_fields(_fields(monitor))
    places = monitor.get("locationStates") or []
    if places:
        output.write_line("")
        output.write_table(("LOCATION", "STATUS", "CHECKED", "TIME", "ERROR"), map(_location, places))
    return 0


def _fields(monitor: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "name", monitor["name"]
    yield "id", monitor["id"]
    yield "type", monitor["type"]
    yield "status", monitor["status"]
    yield "target", choices.target(monitor.get("config") or {})
    yield "interval", output.duration(monitor["interval"])
    yield "group", monitor.get("group") or ""
    yield "silenced", age(monitor.get("silencedUntil"))
    stats = monitor["stats"]
    if stats.get("measured"):
        yield (
            "uptime",
            f"{stats['uptime24h']} % of 24 h, {stats['uptime7d']} % of 7 d, {stats['uptime']} % of 30 d",
        )
        yield "response", f"{stats['p50']} ms median, {stats['p95']} ms 95th percentile, of 24 h"


def _location(state: Mapping[str, Any]) -> tuple[str, ...]:
    time_ms = state["responseTime"]
    return (
        state["location"],
        state["status"],
        age(state["lastCheckedAt"]),
        "" if time_ms is None else f"{time_ms} ms",
        state["error"] or "",
    )


def _check(api: Api, monitor_id: str, *, as_json: bool) -> int:
    """Check it once, now; the status says how the check ended."""
    try:
        checked = api.post(f"/monitors/{monitor_id}/check")
    except Unavailable as error:
        output.write_error(str(error))
        return _UNKNOWN
    if as_json:
        output.write_json(checked)
    else:
        output.write_line(f"{'up' if checked['success'] else 'down'}: {checked['message']}")
    return 0 if checked["success"] else _BAD


def _change(api: Api, monitor_id: str, own: argparse.Namespace) -> int:
    path = f"/monitors/{monitor_id}"
    answer: dict[str, Any] = {"id": monitor_id}
    if own.action == "silence":
        answer |= api.post(f"{path}/silence", {"duration": own.time or 3600, "reason": own.reason or ""})
        text = f"silenced until {answer['silencedUntil']}"
    elif own.action == "unsilence":
        api.delete(f"{path}/silence")
        text = "no longer silenced"
    else:
        answer |= api.post(f"{path}/{own.action}")
        text = answer["status"]
    if own.json:
        output.write_json(answer)
    else:
        output.write_line(f"{own.monitor}: {text}")
    return 0
