"""Checks a draft by the service's own rules: the file that results is one that ``tocsin apply`` takes."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from collector.alerts.service import rule_fields
from collector.importers.core.draft import SECTIONS, Body, Draft, DraftItem, filled, names, plain
from collector.maintenance.service import fields as window_fields
from collector.monitors.service import fields as monitor_fields
from collector.notifications.channels import apprise
from collector.notifications.service import fields as channel_fields
from collector.platform.validation.validation import read
from collector.status_pages.core.fields import NewPage
from shared import ids

# Stands for the key of a monitor or channel, which becomes an id when the file is applied.
_SOME: Final = UUID(int=1)
_LEAST_INTERVAL_S: Final = 1
# What an unknown variable may hold: a text, a URL, an address and a number are each among these.
_POSSIBLE: Final = ("1", "https://example.com/", "somebody@example.com", "example.com")


def finish(draft: Draft) -> dict[str, list[Body]]:
    """Return the sections of the file; what apply would refuse is left out, with the reason in the report."""
    for section in SECTIONS:
        for key, item in list(draft.sections[section].items()):
            if not _check(section, item, draft):
                del draft.sections[section][key]
    sections = {name: [plain(item.body) for item in items.values()] for name, items in draft.sections.items()}
    return {name: items for name, items in sections.items() if items}


def _check(section: str, item: DraftItem, draft: Draft) -> bool:
    """Report an item and return whether the file can have it; a rule of ours is reported if it is refused."""
    _drop_references(section, item, draft)
    lacks = _lacks(section, item)
    fault = "" if lacks else _fault(section, item, draft.secrets)
    if fault or (lacks and section != "rules"):
        draft.report.leave_out(item.origin, lacks or fault)
    elif section != "rules":
        draft.report.add(item.origin, item.reasons)
    return not (lacks or fault)


def variables(draft: Draft) -> dict[str, str]:
    """Return the variables of the draft's items with their values; an empty one is not known."""
    used = [name for items in draft.sections.values() for item in items.values() for name in names(item.body)]
    return {name: draft.secrets.get(name, "") for name in dict.fromkeys(used)}


def _drop_references(section: str, item: DraftItem, draft: Draft) -> None:
    """Drop what refers to an object that is left out."""
    monitors, channels = draft.sections["monitors"], draft.sections["channels"]
    body = item.body
    if section in {"rules", "maintenanceWindows"} and "monitors" in body:
        body["monitors"] = [key for key in body["monitors"] if key in monitors]
    if section == "rules":
        body["channels"] = [key for key in body["channels"] if key in channels]
    if section == "statusPages":
        kept = [
            part
            for part in body.get("components", [])
            if part.get("monitorId", "") in monitors or "monitorId" not in part
        ]
        gone = len(body.get("components", [])) - len(kept)
        if gone:
            item.reasons.append(f"{gone} of its components are left out with their monitors")
        body["components"] = kept


def _lacks(section: str, item: DraftItem) -> str:
    """Return why an object is of no use: for apply, no monitors means all of them."""
    if section == "rules" and not (item.body["monitors"] and item.body["channels"]):
        return "no monitor or no channel of it is carried"
    if section == "maintenanceWindows" and not item.body.get("all") and not item.body.get("monitors"):
        return "no monitor of it is carried"
    return ""


def _fault(section: str, item: DraftItem, secrets: Mapping[str, str]) -> str:
    """Return what apply would say of it whatever its unknown variables hold, or an empty text."""
    unknown = [name for name in names(item.body) if not secrets.get(name)]
    tried = [_faults(section, item, {**secrets, **dict.fromkeys(unknown, text)}) for text in _POSSIBLE]
    always = set(tried[0]).intersection(*tried)
    return "; ".join(f"{name}: {text}" for name, text in tried[0].items() if name in always)


def _faults(section: str, item: DraftItem, values: Mapping[str, str]) -> dict[str, str]:
    body = {name: value for name, value in filled(item.body, values).items() if name != "key"}
    faults = _READERS[section](body)
    if section == "channels" and body.get("type") == "apprise" and not apprise.is_installed():
        faults.pop("type", None)
    return faults


def _monitor(body: Body) -> dict[str, str]:
    request = monitor_fields.for_create(body, _LEAST_INTERVAL_S)
    return {**dict.fromkeys(request.unknown, "there is no such field"), **request.faults}


def _channel(body: Body) -> dict[str, str]:
    request = channel_fields.for_create(body)
    return {**dict.fromkeys(request.unknown, "there is no such field"), **request.faults}


def _rule(body: Body) -> dict[str, str]:
    shown = {
        "channels": [ids.show("chan", _SOME) for _ in body["channels"]],
        "monitors": [ids.show("mon", _SOME) for _ in body["monitors"]],
    }
    request = rule_fields.for_create({**body, **shown})
    return {**dict.fromkeys(request.unknown, "there is no such field"), **request.faults}


def _window(body: Body) -> dict[str, str]:
    shown = {"monitors": [ids.show("mon", _SOME) for _ in body["monitors"]]} if "monitors" in body else {}
    request = window_fields.for_create({**body, **shown})
    return {**dict.fromkeys(request.unknown, "there is no such field"), **request.faults}


def _page(body: Body) -> dict[str, str]:
    components = [
        {**part, "monitorId": ids.show("mon", _SOME)} if "monitorId" in part else part
        for part in body.get("components", [])
    ]
    parsed = read(NewPage, {**body, "components": components})
    return {**dict.fromkeys(parsed.unknown, "there is no such field"), **parsed.faults}


_READERS: Final[Mapping[str, Callable[[Body], dict[str, str]]]] = {
    "monitors": _monitor,
    "channels": _channel,
    "rules": _rule,
    "maintenanceWindows": _window,
    "statusPages": _page,
}
