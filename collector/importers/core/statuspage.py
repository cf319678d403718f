"""Statuspage: a page and its components, of the API or of its public ``/api/v2/summary.json``."""

from collections.abc import Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, WrongSource
from collector.importers.core.report import Origin
from collector.importers.core.values import drop_empty, key, mapping, objects, text, whole

SYSTEM: Final = "statuspage"


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it has no page with components."""
    given = mapping(document)
    page, components = mapping(given.get("page")), given.get("components")
    if not page or not isinstance(components, list):
        raise WrongSource("is no page of Statuspage: it has no `page` with `components`")
    made = Draft(SYSTEM)
    made.report.say("its components have no monitors: set monitorId where one of yours checks the same")
    for name in ("incidents", "scheduled_maintenances", "subscribers", "metrics"):
        if objects(given.get(name)):
            made.report.behind[name.replace("_", " ")] = len(objects(given.get(name)))
    groups = {
        text(item.get("id")): text(item.get("name")) for item in objects(components) if item.get("group")
    }
    shown: list[Body] = []
    for item in sorted(objects(components), key=_position):
        if not item.get("group"):
            origin = Origin("component", text(item.get("name")), f"component {text(item.get('id'))}")
            reasons = (
                ["is shown only while degraded there: it is always shown here"]
                if item.get("only_show_if_degraded")
                else []
            )
            made.report.add(origin, reasons)
            shown.append(_component(item, groups))
    name = text(page.get("name")) or "Status"
    body: Body = {
        "name": name,
        "slug": text(page.get("subdomain")),
        "domain": text(page.get("domain")),
        "components": shown,
    }
    origin = Origin("status page", name, f"page {text(page.get('id'))}")
    made.add("statusPages", origin, f"statuspage-{key(page.get('id') or name)}", drop_empty(body))
    return made


def _component(item: Mapping[str, Any], groups: Mapping[str, str]) -> Body:
    return drop_empty(
        {
            "name": text(item.get("name")),
            "description": text(item.get("description")),
            "group": groups.get(text(item.get("group_id")), ""),
        }
    )


def _position(item: Mapping[str, Any]) -> int:
    return whole(item.get("position")) or 0
