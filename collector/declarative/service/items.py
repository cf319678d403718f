"""Reads declared resources: their keys, references and ownership."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from collector.declarative.answers import Section
from collector.declarative.service.kinds import SECTIONS
from collector.declarative.service.shape import ExistingResource
from shared import ids

KEPT = "$kept"
MOST_KEY = 255
_FLAGS = ("plan", "prune", "takeOver")
SET = "set"
USUAL_SET = "default"
_SET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")


@dataclass(slots=True)
class DeclaredItem:
    """A declared item; *body* has ids where the files have keys; *tentative*: its id until it is created.

    *at*: its place in the request: ``monitors[3]``.
    """

    section: Section
    key: str
    at: str
    body: dict[str, Any]
    before: ExistingResource | None = None
    tentative: str = ""
    faults: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the existing resource, else the tentative one."""
        return ids.show(SECTIONS[self.section].prefix, self.before.id) if self.before else self.tentative


@dataclass(frozen=True, slots=True)
class DeclaredItems:
    """Items by section; *faults*: of everything that is no item, by its place."""

    items: dict[Section, list[DeclaredItem]]
    faults: dict[str, str]


def is_set_name(said: Any) -> bool:
    return isinstance(said, str) and _SET_NAME.fullmatch(said) is not None


def items(body: Mapping[str, Any]) -> DeclaredItems:
    """Parse the declared items of a request."""
    faults = {
        name: f"there is no such section; there are {', '.join(SECTIONS)}"
        for name in body
        if name not in SECTIONS and name not in _FLAGS and name != SET
    }
    if not is_set_name(body.get(SET, USUAL_SET)):
        faults[SET] = "must have 1 to 100 of letters, digits and . _ / -, and begin with a letter or digit"
    faults |= {
        name: "must be true or false" for name in _FLAGS if not isinstance(body.get(name, False), bool)
    }
    found: dict[Section, list[DeclaredItem]] = {}
    for section in SECTIONS:
        listed = body.get(section)
        if listed is not None and not isinstance(listed, list):
            faults[section] = "must be a list"
            listed = None
        found[section] = list(_items(section, listed or [], faults))
    return DeclaredItems(found, faults)


def _items(section: Section, listed: Sequence[Any], faults: dict[str, str]) -> Iterator[DeclaredItem]:
    """Yield the items; one without a key is read too, to report all of its faults."""
    seen: set[str] = set()
    for place, said in enumerate(listed):
        at = f"{section}[{place}]"
        if not isinstance(said, dict):
            faults[at] = "must be an object"
            continue
        key, named = said.get("key", said.get("name")), "key" if "key" in said else "name"
        rest = {name: value for name, value in said.items() if name != "key"}
        tentative = ids.show(SECTIONS[section].prefix, ids.uuid7())
        item = DeclaredItem(section, key if isinstance(key, str) else at, at, rest, tentative=tentative)
        if named == "key" and not _is_key(key):
            item.faults["key"] = f"must be a text of 1 to {MOST_KEY} characters"
        elif item.key in seen:
            item.faults[named] = (
                f"another {SECTIONS[section].noun} has it, too; give either a key of its own with key:"
            )
        seen.add(item.key)
        yield item


def _is_key(key: Any) -> bool:
    return isinstance(key, str) and 0 < len(key) <= MOST_KEY and bool(key.strip())


def match(
    declared: Sequence[DeclaredItem], managed: Mapping[str, UUID], there: Mapping[UUID, ExistingResource]
) -> Iterator[DeclaredItem]:
    """Match each item by its key, else by name with resources created by hand; yield the latter.

    Several resources of one name are matched in the order of creation, if all of them are declared.
    """
    kept = {id_ for id_ in managed.values() if id_ in there}
    by_name: dict[str, list[ExistingResource]] = {}
    for resource in there.values():
        if resource.id not in kept:
            by_name.setdefault(resource.name, []).append(resource)
    wanting: dict[str, list[DeclaredItem]] = {}
    for item in declared:
        id_ = managed.get(item.key)
        item.before = there.get(id_) if id_ else None
        name = item.body.get("name")
        if item.before is None and isinstance(name, str):
            wanting.setdefault(name, []).append(item)
    for name, asking in wanting.items():
        free = by_name.get(name, [])
        if len(free) > len(asking):
            for item in asking:
                item.faults["name"] = (
                    f"{len(free)} that were made by hand have this name: which one is meant?"
                )
            continue
        for item, resource in zip(asking, free, strict=False):
            item.before = resource
            yield item


def demand_own(
    declared: Sequence[DeclaredItem], others: Mapping[str, str], there: Mapping[str, ExistingResource]
) -> None:
    """Add a fault for each key under which another set keeps a resource; *others*: the set of each."""
    for item in declared:
        if item.key in others and item.key in there:
            item.faults["key"] = (
                f"the files of the set {others[item.key]} keep what has this key; "
                "--take-over (takeOver) takes it over"
            )


def refer(item: DeclaredItem, known: Mapping[Section, "Names"]) -> None:
    """Replace keys by ids where an item refers to others; unknown keys become faults."""
    for path, section in SECTIONS[item.section].refers.items():
        for holder, name, shown in _places(item.body, path):
            said = holder[name]
            prefix = SECTIONS[section].prefix
            if not isinstance(said, str) or not said or ids.read(prefix, said):
                continue
            reference = known[section].find(said)
            if reference.id is None:
                item.faults[shown] = reference.why or f"there is no {SECTIONS[section].noun} {said}"
            holder[name] = reference.id or ids.show(prefix, ids.uuid7())


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """*why*: the fault, if it is more than that the key is unknown."""

    id: str | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Names:
    """The names by which items may refer to a section: keys, else unique names of other resources.

    *declared*: this section's items by their keys, *kept*: other resources by theirs; *prefix*: of ids.
    *leaving*: names of resources that are about to be deleted.
    """

    prefix: str
    declared: Mapping[str, DeclaredItem]
    kept: Mapping[str, ExistingResource]
    others: Mapping[str, Sequence[ExistingResource]]
    leaving: frozenset[str] = frozenset()

    def find(self, text: str) -> ResolvedReference:
        if text in self.declared:
            return ResolvedReference(self.declared[text].id)
        if text in self.kept:
            return ResolvedReference(ids.show(self.prefix, self.kept[text].id))
        named = self.others.get(text, ())
        if len(named) == 1:
            return ResolvedReference(ids.show(self.prefix, named[0].id))
        if named:
            return ResolvedReference(None, f"{len(named)} are called {text}: declare the one that is meant")
        return ResolvedReference(
            None, f"{text} is not declared any more and would be deleted" if text in self.leaving else ""
        )


def keep(item: DeclaredItem) -> None:
    """Insert existing values where the files say "kept"; a missing one is a fault."""
    before = item.before.body if item.before else {}
    item.body = {
        name: _kept(item, name, value, before.get(name, before.get("config", {}).get(name)))
        for name, value in item.body.items()
    }


def _kept(item: DeclaredItem, path: str, sent: Any, before: Any) -> Any:
    if isinstance(sent, dict) and sent.keys() == {KEPT}:
        if before is None:
            field_ = path.removeprefix("config.")
            item.faults[field_] = f"the variable {sent[KEPT]} is not set, and there is nothing to keep"
        return before
    if isinstance(sent, dict):
        old = before if isinstance(before, Mapping) else {}
        return {name: _kept(item, f"{path}.{name}", value, old.get(name)) for name, value in sent.items()}
    if isinstance(sent, list):
        listed = before if isinstance(before, list) else []
        padded = [*listed, *[None] * len(sent)]
        return [
            _kept(item, f"{path}[{at}]", value, old)
            for at, (value, old) in enumerate(zip(sent, padded, strict=False))
        ]
    return sent


def _places(value: Any, path: Sequence[str], shown: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield the container of the last step of *path*, the step, and its name in a fault."""
    step, rest = path[0], path[1:]
    steps: list[tuple[Any, str]] = []
    if step == "[]":
        steps = [(at, f"{shown}[{at}]") for at in range(len(value))] if isinstance(value, list) else []
    elif isinstance(value, dict) and step in value:
        steps = [(step, f"{shown}.{step}" if shown and shown != "config" else step)]
    for at, name in steps:
        if rest:
            yield from _places(value[at], rest, name)
        else:
            yield value, at, name
