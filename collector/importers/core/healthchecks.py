"""Healthchecks: what its API lists, or the same as a file."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, WrongSource
from collector.importers.core.report import PAUSED, Origin
from collector.importers.core.values import drop_empty, key, objects, tags, text, whole

SYSTEM: Final = "healthchecks"
_GRACE_S: Final = 3600
_CRON: Final = re.compile(r"\S+(?: \S+){4}")
_PAIR: Final = re.compile(r"([^=:]+)[=:](.*)")
_OLD_ZONES: Final = {"Europe/Kiev": "Europe/Kyiv"}


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if the document lists no checks."""
    checks = document.get("checks") if isinstance(document, dict) else document
    if not isinstance(checks, list):
        raise WrongSource("is no list of checks of Healthchecks: it has no `checks`")
    made = Draft(SYSTEM)
    listed = document.get("channels") if isinstance(document, dict) else None
    known = {text(item.get("id")): item for item in objects(listed)}
    for id_, channel in known.items():
        origin = Origin("channel", text(channel.get("name")) or id_, f"channel {id_}")
        made.report.leave_out(
            origin, f"the API shows neither address nor key of a channel of kind {text(channel.get('kind'))}"
        )
    used: dict[str, int] = defaultdict(int)
    for number, check in enumerate(checks, 1):
        if isinstance(check, dict):
            _add(made, check, number)
            for channel_id in filter(None, text(check.get("channels")).split(",")):
                used[channel_id.strip()] += 1
    for id_, count in used.items():
        called = text(known.get(id_, {}).get("name")) or id_
        made.report.say(f"{count} of the checks notify {called}: make the channel and a rule for them")
    return made


def _add(made: Draft, check: Mapping[str, Any], number: int) -> None:
    ping_url = text(check.get("ping_url"))
    id_ = text(
        check.get("unique_key")
        or check.get("uuid")
        or ping_url.rpartition("/")[2]
        or check.get("slug")
        or number
    )
    name = text(check.get("name")) or text(check.get("slug")) or f"Check {id_[:8]}"
    origin, reasons = Origin("check", name, f"check {id_}"), list[str]()
    config: Body = {"gracePeriod": max(whole(check.get("grace")) or _GRACE_S, 1), "armOnFirstPing": True}
    schedule = text(check.get("schedule")).strip()
    if not schedule:
        config["expectedInterval"] = max(whole(check.get("timeout")) or 86_400, 1)
    elif _CRON.fullmatch(schedule):
        zone = text(check.get("tz")) or "UTC"
        config |= {"cron": schedule, "timezone": _OLD_ZONES.get(zone, zone)}
    else:
        made.report.leave_out(
            origin, f"its schedule {schedule.splitlines()[0]} is no cron expression of five fields"
        )
        return
    _add_differences(check, reasons)
    words = text(check.get("tags")).split()
    pairs = [(match[1], match[2]) if (match := _PAIR.fullmatch(word)) else (word, "") for word in words]
    body: Body = {
        "name": name,
        "type": "heartbeat",
        "description": text(check.get("desc")),
        "tags": tags(pairs),
        "config": config,
    }
    if ping_url:
        made.report.ping_urls[name] = ping_url
        made.report.say(
            "every job needs its new ping URL; /start, /fail, /log and exit statuses are called the same"
        )
    made.report.behind["pings"] = made.report.behind.get("pings", 0) + (whole(check.get("n_pings")) or 0)
    made.add("monitors", origin, f"hc-{key(id_)}", drop_empty(body), reasons)


def _add_differences(check: Mapping[str, Any], reasons: list[str]) -> None:
    if text(check.get("status")) == "paused":
        reasons.append(PAUSED)
    if any(
        check.get(field)
        for field in (
            "subject",
            "subject_fail",
            "start_kw",
            "success_kw",
            "failure_kw",
            "filter_subject",
            "filter_body",
            "filter_http_body",
        )
    ):
        reasons.append("its filters of mails and bodies are not carried")
    if check.get("manual_resume"):
        reasons.append("a ping resumes it: manual_resume is not carried")
