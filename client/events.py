"""``tocsin events tail``: prints a team's events as they happen."""

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from client import choices
from client.api import StreamedEvent
from client.output import write_line
from client.profile import begin


def main(argv: list[str]) -> int:
    """Print events until interrupted."""
    own, api = begin(_parser(), argv)
    monitor_id = choices.monitor(api, own.monitor) if own.monitor else None
    kinds = ",".join(own.kind) if own.kind else None
    for event in api.events(own.after, kind=kinds, monitor_id=monitor_id):
        write_line(json.dumps(event.payload, ensure_ascii=False) if own.json else " ".join(_words(event)))
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin events tail [--kind KIND ...] [--monitor MONITOR] [--after ID]"
    parser = argparse.ArgumentParser(prog="tocsin events", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["tail"], help="print events as they happen")
    parser.add_argument(
        "--kind", action="append", help="only events of this kind, as monitor.down; may be repeated"
    )
    parser.add_argument("--monitor", help="only events of this monitor")
    parser.add_argument("--after", metavar="ID", help="begin after this event, with those that were missed")
    parser.add_argument("--json", action="store_true", help="print each event's payload as one line of JSON")
    return parser


def _words(event: StreamedEvent) -> Iterator[str]:
    """Yield an event's time, its kind, what it is about, and what it says."""
    payload: Mapping[str, Any] = event.payload
    yield str(payload.get("timestamp", "-"))
    yield f"{event.kind:<22}"
    for part in ("monitor", "incident", "alert", "maintenance", "probe", "channel"):
        about = payload.get(part)
        if isinstance(about, dict):
            yield str(about.get("name") or about.get("title") or about.get("id") or "")
            text = about.get("lastError") or about.get("message") or about.get("downtimeFormatted")
            if text:
                yield f"({text})"
