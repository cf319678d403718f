"""``tocsin incidents``: lists, shows, acknowledges, resolves and annotates incidents through the API."""

import argparse
from collections.abc import Iterator, Mapping
from typing import Any, Final

from client import choices, output
from client.api import Api
from client.output import age
from client.profile import begin

_ACTIONS: Final = ("list", "show", "ack", "resolve", "reopen", "note", "snooze")
_LISTED: Final = 3
_UNRESOLVED: Final = "unresolved"
_USAGE: Final = """tocsin incidents list [--status STATUS] [--severity SEVERITY] [--monitor MONITOR]
       tocsin incidents show | ack INCIDENT
       tocsin incidents resolve | reopen | note INCIDENT [TEXT]
       tocsin incidents snooze INCIDENT [--for TIME]"""


def main(argv: list[str]) -> int:
    """Run the action; see the help page for its exit status."""
    own, api = begin(_parser(), argv, _faults)
    if own.action == "list":
        return _list(api, own)
    incident_id = choices.incident(api, own.incident)
    if own.action == "show":
        return _show(api, incident_id, as_json=own.json)
    return _change(api, incident_id, own)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin incidents",
        usage=_USAGE,
        allow_abbrev=False,
        epilog="Exit status: 0 done; 1 refused; 2 misuse; 3, with --exit-code, something is listed.",
    )
    parser.add_argument("action", choices=_ACTIONS, help="list, or what to do with one incident")
    parser.add_argument(
        "incident",
        nargs="?",
        metavar="INCIDENT",
        help="its id, or its monitor's name: the newest unresolved one",
    )
    parser.add_argument("text", nargs="?", metavar="TEXT", help="the note, or why")
    parser.add_argument(
        "--status",
        choices=["open", "acknowledged", "resolved", _UNRESOLVED],
        default=_UNRESOLVED,
        help="list: only those with this status (unresolved)",
    )
    parser.add_argument(
        "--severity", choices=["critical", "high", "medium", "low"], help="list: only those as severe"
    )
    parser.add_argument("--monitor", help="list: only those of this monitor")
    parser.add_argument(
        "--limit", type=choices.count, default="100", metavar="N", help="list: how many (100)"
    )
    parser.add_argument("--exit-code", action="store_true", help="list: exit with 3 if something is listed")
    parser.add_argument(
        "--for", dest="time", type=choices.seconds, metavar="TIME", help="snooze: 30m, 2h, 1d (1h)"
    )
    parser.add_argument("--json", action="store_true", help="print the API's answer as JSON")
    return parser


def _faults(values: Mapping[str, Any]) -> Iterator[str]:
    action, incident, text = (values.get(name) for name in ("action", "incident", "text"))
    if action is None:
        return
    if (incident is None) != (action == "list"):
        yield f"INCIDENT: {'is not asked for by list' if incident else 'is required'}"
    if action == "note" and incident is not None and text is None:
        yield "TEXT: is required"
    if text is not None and action not in {"note", "resolve", "reopen"}:
        yield f"TEXT: is not asked for by {action}"


def _list(api: Api, own: argparse.Namespace) -> int:
    monitor_id = choices.monitor(api, own.monitor) if own.monitor else None
    wanted = ("open", "acknowledged") if own.status == _UNRESOLVED else (own.status,)
    incidents = [
        incident
        for status in wanted
        for incident in api.all(
            "/incidents", own.limit, status=status, severity=own.severity, monitor_id=monitor_id
        )
    ][: own.limit]
    if own.json:
        output.write_json(incidents)
    else:
        heads = ("ID", "TITLE", "SEVERITY", "STATUS", "STARTED", "DURATION", "ERROR")
        output.write_table(heads, map(_row, incidents))
    return _LISTED if own.exit_code and incidents else 0


def _row(incident: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        incident["id"],
        incident["title"],
        incident["severity"],
        incident["status"],
        age(incident["startedAt"]),
        output.duration(incident["downtime"]),
        incident["lastError"] or "",
    )


def _show(api: Api, incident_id: str, *, as_json: bool) -> int:
    incident = api.get(f"/incidents/{incident_id}")
    timeline = api.get(f"/incidents/{incident_id}/timeline")["events"]
    if as_json:
        output.write_json({**incident, "timeline": timeline})
        return 0
    output.write_fields(_fields(incident))
    output.write_line("")
    rows = ((event["timestamp"], event["type"], event["actor"], event["details"]) for event in timeline)
    output.write_table(("TIME", "EVENT", "BY", "DETAILS"), rows)
    return 0


def _fields(incident: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "title", incident["title"]
    yield "id", incident["id"]
    yield "monitor", incident["monitorName"] or ""
    yield "status", incident["status"]
    yield "severity", incident["severity"]
    yield "started", f"{age(incident['startedAt'])} ({incident['startedAt']})"
    yield "duration", output.duration(incident["downtime"])
    yield "acknowledged", _by(incident, "acknowledged")
    yield "resolved", _by(incident, "resolved")
    yield "snoozed", age(incident.get("snoozedUntil"))
    yield "error", incident["lastError"] or ""
    yield "note", incident["resolutionNote"] or ""
    yield "description", incident["description"]


def _by(incident: Mapping[str, Any], done: str) -> str:
    at, who = incident[f"{done}At"], incident[f"{done}By"]
    return f"{age(at)} by {who['name'] if who else 'nobody'}" if at else ""


def _change(api: Api, incident_id: str, own: argparse.Namespace) -> int:
    path = f"/incidents/{incident_id}"
    if own.action == "note":
        answer = api.post(f"{path}/notes", {"text": own.text})
        text = "noted"
    elif own.action == "snooze":
        answer = api.post(f"{path}/snooze", {"duration": own.time or 3600})
        text = f"snoozed until {answer['snoozedUntil']}"
    else:
        verb, field = _VERBS[own.action]
        answer = api.post(f"{path}/{verb}", {field: own.text} if field and own.text else {})
        text = answer["status"]
    if own.json:
        output.write_json(answer)
    else:
        output.write_line(f"{incident_id}: {text}")
    return 0


# The verb of the API, and the field that takes the text.
_VERBS: Final[Mapping[str, tuple[str, str | None]]] = {
    "ack": ("acknowledge", None),
    "resolve": ("resolve", "resolutionNote"),
    "reopen": ("reopen", "reason"),
}
