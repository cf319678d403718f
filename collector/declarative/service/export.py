"""Exports a team's resources as files declare them: keys for ids, no defaults, no secrets."""

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from collector.declarative import storage
from collector.declarative.answers import Section
from collector.declarative.service.changes import swapped
from collector.declarative.service.kinds import SECTIONS
from collector.declarative.service.shape import ApplyContext, ExistingResource, Sort
from shared import ids

_WORDS = re.compile(r"[^A-Z0-9]+")


async def export(context: ApplyContext) -> dict[str, list[dict[str, Any]]]:
    """Return resources by section and key; a secret is ``${NAME?}``, and a literal ``${`` becomes ``$${``."""
    there: dict[Section, list[ExistingResource]] = {}
    async with context.means.db.transaction() as tx:
        known = await storage.all_(tx, context.team_id)
        for section, sort in SECTIONS.items():
            there[section] = await sort.present(context, tx)
            if sort.load is not None:
                there[section] = await sort.load(context, tx, there[section])
    kept = {
        section: {key: id_ for of in known.values() for key, id_ in of.get(section, {}).items()}
        for section in SECTIONS
    }
    keys = {section: _keys(there[section], kept[section]) for section in SECTIONS}
    called = {
        ids.show(SECTIONS[section].prefix, id_): key
        for section, of in keys.items()
        for id_, key in of.items()
    }
    taken: set[str] = set()
    found: dict[str, list[dict[str, Any]]] = {}
    for section, sort in SECTIONS.items():
        named = sorted((resource for resource in there[section] if resource.sayable), key=_by_name)
        if named:
            found[section] = [
                _item(sort, resource, keys[section][resource.id], called, taken) for resource in named
            ]
    return found


def _by_name(resource: ExistingResource) -> tuple[str, UUID]:
    return resource.name, resource.id


def _keys(there: list[ExistingResource], known: Mapping[str, UUID]) -> dict[UUID, str]:
    """Return the keys of managed resources, and names of others; a repeated name gets a number."""
    found = {id_: key for key, id_ in known.items()}
    used = set(found.values())
    for resource in there:
        if resource.id in found:
            continue
        key, number = resource.name, 1
        while key in used:
            number += 1
            key = f"{resource.name} ({number})"
        used.add(key)
        found[resource.id] = key
    return found


def _item(
    sort: Sort, resource: ExistingResource, key: str, called: Mapping[str, str], taken: set[str]
) -> dict[str, Any]:
    spared, shown = sort.spare(resource.body), sort.hidden(resource.body)
    open_ = _opened(f"{sort.noun} {key}", spared, shown, taken)
    head = {"key": key} if key != resource.name else {}
    return {**head, **_referring(sort, open_, called)}


def _opened(path: str, value: Any, shown: Any, taken: set[str]) -> Any:
    """Return *value* with a placeholder for every text that *shown* hides."""
    if isinstance(value, Mapping):
        paths = {name: path if name == "config" else f"{path} {name}" for name in value}
        return {name: _opened(paths[name], one, shown[name], taken) for name, one in value.items()}
    if isinstance(value, list):
        pairs = enumerate(zip(value, shown, strict=True))
        return [_opened(f"{path} {at}", one, masked, taken) for at, (one, masked) in pairs]
    if not isinstance(value, str):
        return value
    if value != shown:
        return f"${{{_variable(path, taken)}?}}"
    return value.replace("${", "$${")


def _variable(path: str, taken: set[str]) -> str:
    words = _WORDS.sub("_", re.sub(r"([a-z])([A-Z])", r"\1_\2", path).upper()).strip("_")
    name, number = words, 1
    while name in taken:
        number += 1
        name = f"{words}_{number}"
    taken.add(name)
    return name


def _referring(sort: Sort, item: dict[str, Any], called: Mapping[str, str]) -> dict[str, Any]:
    """Replace ids by keys where a resource refers to others; other texts that look like ids stay."""
    for path in sort.refers:
        _refer(item, path, called)
    return item


def _refer(value: Any, path: tuple[str, ...], called: Mapping[str, str]) -> None:
    step, rest = path[0], path[1:]
    steps = range(len(value)) if step == "[]" and isinstance(value, list) else ()
    for at in steps or ([step] if isinstance(value, dict) and step in value else ()):
        if rest:
            _refer(value[at], rest, called)
        else:
            value[at] = swapped(value[at], called)
