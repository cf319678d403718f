"""AutoKuma: entities of its files as rows of Uptime Kuma, which is what AutoKuma makes of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from collector.importers.core import uptime_kuma
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import Origin
from collector.importers.core.uptime_kuma import Options, Source, folded
from collector.importers.core.values import elements, first_of, mapping, objects, text, truth

SYSTEM: Final = "autokuma"

Row = Mapping[str, Any]

_TEMPLATES: Final = ("{{", "{%")
_NOT_MONITORS: Final = frozenset({"docker_host", "notification", "status_page", "tag"})


def of_document(name: str, document: Any) -> dict[str, Any]:
    """Return the entities of a document by their ids; *name*: its file's, without the ending.

    The document is an entity, a list of them, or a KumaEntity of Kubernetes.
    """
    if isinstance(document, list):
        return {f"{name}[{place}]": entity for place, entity in enumerate(document)}
    given = mapping(document)
    if given.get("kind") == "KumaEntity":
        own = text(mapping(given.get("metadata")).get("name")) or name
        return {own: mapping(given.get("spec")).get("config")}
    return {name: document}


def draft(entities: Mapping[str, Any], options: Options) -> Draft:
    """Return the file's contents and the report. Raises WrongSource if there is no entity.

    *entities*: by their ids.
    """
    known = {id_: entity for id_, entity in entities.items() if _type_of(entity)}
    if not known:
        raise WrongSource("has no entity of AutoKuma: none has a `type`")
    left_out: dict[str, str] = dict.fromkeys(entities.keys() - known.keys(), "has no type")
    source, missing = Source(), list[str]()
    for id_, entity in known.items():
        if _has_template(entity):
            left_out[id_] = "has a template, which AutoKuma fills in from a container"
        elif entity["type"] == "docker_host":
            left_out[id_] = "Docker hosts have no counterpart"
    carried = {id_: entity for id_, entity in known.items() if id_ not in left_out}
    for id_, entity in carried.items():
        _add(source, id_, entity, carried, missing)
    made = uptime_kuma.draft(source, options)
    for id_ in entities:
        if id_ in left_out:
            kind = _type_of(entities[id_]) or "entity"
            made.report.leave_out(Origin(kind, id_, id_), left_out[id_])
    for line in missing:
        made.report.say(line)
    return made


def _type_of(entity: Any) -> str:
    named = mapping(entity).get("type")
    return named if isinstance(named, str) else ""


def _has_template(value: Any) -> bool:
    if isinstance(value, str):
        return any(mark in value for mark in _TEMPLATES)
    inner: Sequence[Any] = list(value.values()) if isinstance(value, dict) else elements(value)
    return any(_has_template(item) for item in inner)


def _add(source: Source, id_: str, entity: Row, known: Mapping[str, Row], missing: list[str]) -> None:
    row = {**folded(entity), "id": id_}
    type_ = entity["type"]
    if type_ == "notification":
        source.notifications.append({"name": id_, **row})
    elif type_ == "tag":
        source.tags.append({"name": id_, **row})
    elif type_ == "status_page":
        _add_page(source, id_, row, known)
    else:
        _add_monitor(source, id_, row, known, missing)


def _add_monitor(source: Source, id_: str, row: Row, known: Mapping[str, Row], missing: list[str]) -> None:
    parent = text(row.get("parentname"))
    source.monitors.append(
        {
            "name": id_,
            **row,
            "parent": parent,
            "active": truth(row.get("active", True)) and not truth(row.get("createpaused")),
            "basicauthpass": first_of(row, "basicauthpass", "basicauthpassword"),
        }
    )
    wanted = [parent] if parent else []
    for name in elements(first_of(row, "notificationnames", "notificationnamelist")):
        source.monitor_notifications.append({"monitorid": id_, "notificationid": text(name)})
        wanted.append(text(name))
    for tag in objects(row.get("tagnames")):
        source.monitor_tags.append(
            {"monitorid": id_, "tagid": text(tag.get("name")), "value": tag.get("value")}
        )
        wanted.append(text(tag.get("name")))
    missing += [
        f"{id_} refers to {name}, which the files do not have" for name in wanted if name not in known
    ]


def _add_page(source: Source, id_: str, row: Row, known: Mapping[str, Row]) -> None:
    source.pages.append({"title": row.get("slug"), **row})
    source.page_domains += [
        {"statuspageid": id_, "domain": text(name)} for name in elements(row.get("domainnamelist"))
    ]
    by_name = {
        text(entity.get("name")): own for own, entity in known.items() if entity["type"] not in _NOT_MONITORS
    }
    for place, group in enumerate(map(folded, objects(row.get("publicgrouplist")))):
        of = f"{id_}[{place}]"
        source.page_groups.append({"id": of, "statuspageid": id_, "weight": place, "name": group.get("name")})
        for number, monitor in enumerate(map(folded, objects(group.get("monitorlist")))):
            named = text(first_of(monitor, "entityid", "name", "id"))
            source.page_monitors.append(
                {
                    "groupid": of,
                    "monitorid": named if named in known else by_name.get(named, named),
                    "weight": number,
                }
            )
