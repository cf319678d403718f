"""Cachet: components, groups and incidents of its API (v1 of Cachet 2, JSON:API of Cachet 3)."""

from collections.abc import Mapping
from typing import Any, Final

from collector.importers.core.draft import Body, Draft, WrongSource
from collector.importers.core.report import Origin
from collector.importers.core.values import drop_empty, first_of, mapping, objects, text, truth, whole

SYSTEM: Final = "cachet"

Item = Mapping[str, Any]

_BEHIND: Final = ("incidents", "schedules", "subscribers", "metrics", "incident_templates")
# To whom a group is shown; 1 is everybody.
_SIGNED_IN: Final = 0
_HIDDEN: Final = 2


def draft(document: Any) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if it lists no components.

    *document*: `components`, and perhaps `groups`, `incidents`, `schedules`, `subscribers`, `metrics` and
    `settings`, each a list or the answer that holds it as `data`.
    """
    given = mapping(document)
    if "components" not in given and isinstance(given.get("data"), list):
        given = {"components": given}
    if not isinstance(given.get("components"), list | dict):
        raise WrongSource("is no answer of Cachet: it has no components")
    made = Draft(SYSTEM)
    made.report.say("its components have no monitors: set monitorId where one of yours checks the same")
    made.report.say("incidents and their states stay behind: each component's status follows its monitor")
    groups = {
        item["id"]: item
        for item in _resources(first_of(given, "groups", "component_groups", "component-groups"))
    }
    for name in _BEHIND:
        listed = _resources(first_of(given, name, name.replace("_", "-")))
        if listed:
            made.report.behind[name.replace("_", " ")] = len(listed)
    _add_page(made, mapping(given.get("settings")), _components(made, given["components"], groups))
    return made


def _add_page(made: Draft, settings: Item, components: list[Body]) -> None:
    name = text(first_of(settings, "name", "app_name")) or "Status"
    reasons = [
        f"its {words} is not carried"
        for field, words in (
            ("about", "text about it"), ("app_about", "text about it"), ("stylesheet", "stylesheet"),
            ("custom_css", "stylesheet"),
        )
        if text(settings.get(field))
    ]  # fmt: skip
    body: Body = {"name": name, "components": components}
    made.add("statusPages", Origin("status page", name, "components"), "cachet-page", body, reasons)


def _components(made: Draft, listed: Any, groups: Mapping[str, Item]) -> list[Body]:
    """Return the components that visitors see, by the order of their groups and their own."""
    shown: dict[tuple[str, str], Body] = {}
    for item in sorted(_resources(listed), key=lambda item: _order(item, groups)):
        group = groups.get(_group_of(item), {})
        name = text(item.get("name"))
        origin, reasons = Origin("component", name, f"component {item['id']}"), list[str]()
        body = drop_empty(
            {
                "name": name.strip(),
                "description": text(item.get("description")),
                "group": text(group.get("name")),
            }
        )
        if text(item.get("link")):
            reasons.append(f"its link {text(item.get('link'))} is not carried")
        where = text(group.get("name")), name.strip()
        if fault := _unseen(item, group) or ("" if name.strip() else "has no name"):
            made.report.leave_out(origin, fault)
        elif where in shown:
            made.report.leave_out(origin, "another component of its group has its name")
        else:
            shown[where] = body
            made.report.add(origin, reasons)
    return list(shown.values())


def _unseen(item: Item, group: Item) -> str:
    """Return why visitors do not see a component, or an empty text."""
    if item.get("enabled") is not None and not truth(item.get("enabled")):
        return "is switched off there"
    visible = whole(group.get("visible"))
    if visible == _SIGNED_IN:
        return "is in a group that only people who signed in see"
    if visible == _HIDDEN:
        return "is in a hidden group"
    return ""


def _order(item: Item, groups: Mapping[str, Item]) -> tuple[int, int, int]:
    """Return the place of a component: those without a group come last, as Cachet shows them."""
    group = groups.get(_group_of(item))
    return (
        0 if group is not None else 1,
        whole(mapping(group).get("order")) or 0,
        whole(item.get("order")) or 0,
    )


def _group_of(item: Item) -> str:
    """Return the id of the component's group: a field, or a relation of JSON:API."""
    related = mapping(mapping(mapping(item.get("relationships")).get("group")).get("data"))
    return text(first_of(item, "group_id", "component_group_id") or related.get("id"))


def _resources(listed: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, or of one or several answers, with `attributes` beside their `id`."""
    if isinstance(listed, dict):
        listed = [listed]
    items: list[dict[str, Any]] = []
    for item in objects(listed):
        items += objects(item["data"]) if isinstance(item.get("data"), list) else [item]
    return [
        {**item, **mapping(item.get("attributes")), "id": text(item.get("id")) or str(number)}
        for number, item in enumerate(items, 1)
    ]
