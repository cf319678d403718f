"""Creates, updates and deletes declared resources through the API's services; records their keys."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from collector.declarative import storage as managed
from collector.declarative.answers import Section
from collector.declarative.service import monitors
from collector.declarative.service.changes import ApplyOutcome, FieldChange, PlannedChange, fields, swapped
from collector.declarative.service.items import DeclaredItem
from collector.declarative.service.kinds import SECTIONS
from collector.declarative.service.shape import ApplyContext, Body, CreatedItem, ExistingResource, Sort
from collector.monitors.service import parents
from collector.monitors.service.fields import MonitorRequest
from collector.platform.monitor import MonitorSettings
from collector.platform.storage.db import Tx
from shared import ids
from shared.errors import Conflict, Invalid, NotFound

_MONITORS: Final = "monitors"


@dataclass(slots=True)
class Work:
    """By section: declared items, existing resources, owners of keys, resources that are no longer declared.

    *elsewhere*: resources that other sets declare, by their keys. *faults*: of declared items, so far.
    *wholes*: the wanted body of each item, by its place; *monitors*: the requests of monitors, by theirs.
    *real*: ids by the tentative ones.
    """

    items: dict[Section, list[DeclaredItem]]
    set_name: str
    prune: bool
    faults: dict[str, str]
    there: dict[str, dict[UUID, ExistingResource]] = field(default_factory=dict)
    managed: dict[str, dict[str, UUID]] = field(default_factory=dict)
    left: dict[Section, dict[str, ExistingResource]] = field(default_factory=dict)
    elsewhere: dict[str, dict[str, ExistingResource]] = field(default_factory=dict)
    wholes: dict[str, dict[str, Any]] = field(default_factory=dict)
    monitors: dict[str, MonitorRequest[MonitorSettings]] = field(default_factory=dict)
    real: dict[str, str] = field(default_factory=dict)
    outcome: ApplyOutcome = field(default_factory=ApplyOutcome)


@dataclass(frozen=True, slots=True)
class _BulkOutcome:
    """Monitors done by one step for all: those *created*, by place, and warnings about those *updated*."""

    created: Mapping[str, CreatedItem] = field(default_factory=dict)
    updated: Mapping[UUID, Sequence[str]] = field(default_factory=dict)


async def carry_out(tx: Tx, context: ApplyContext, work: Work, *, plan: bool) -> None:
    """Deletions free addresses, so they run first; those of monitors block others, so they run last.

    A plan leaves out the deletion of monitors. Raises Invalid with all faults, Crossed.
    """
    called = _called(work) if _updates(work) else {}
    if work.prune:
        for section in reversed(list(SECTIONS)):
            if section != _MONITORS:
                await _delete(context, work, section)
    for section, listed in work.items.items():
        done = await _monitors(tx, context, work) if section == _MONITORS else _BulkOutcome()
        faults: dict[str, str] = {}
        for item in listed:
            faults |= await _put(context, work, item, called, done)
        if faults:
            raise Invalid(faults)
        await _remember(tx, context, work, section)
    if work.prune:
        await _delete(context, work, _MONITORS, plan=plan)


async def _monitors(tx: Tx, context: ApplyContext, work: Work) -> "_BulkOutcome":
    """Create the new monitors together, and change others. Raises Invalid for unknown parents."""
    listed, wholes = work.items[_MONITORS], work.wholes
    new = {_tentative(item): item for item in listed if item.before is None}
    moved = [
        item
        for item in listed
        if item.before is None or item.before.body["dependsOn"] != wholes[item.at]["dependsOn"]
    ]
    bodies = [wholes[item.at] for item in moved]
    unknown = await parents.unknown_of_all(tx, context.team_id, bodies, frozenset(new))
    faults = {
        f"{item.at}.{name}": text
        for item, found in zip(moved, unknown, strict=True)
        for name, text in found.items()
    }
    if faults:
        raise Invalid(faults)
    made = await monitors.create_all(context, tx, {id_: work.monitors[item.at] for id_, item in new.items()})
    real = {ids.show("mon", id_): ids.show("mon", each.id) for id_, each in zip(new, made, strict=True)}
    wanted = [
        (item.before, swapped(wholes[item.at], real))
        for item in listed
        if item.before is not None and item.before.body != wholes[item.at]
    ]
    return _BulkOutcome(
        {item.at: each for item, each in zip(new.values(), made, strict=True)},
        await monitors.update_all(context, wanted),
    )


async def _put(
    context: ApplyContext, work: Work, item: DeclaredItem, called: dict[str, str], done: _BulkOutcome
) -> dict[str, str]:
    """Create or update one resource, unless that is *done*; return its faults."""
    try:
        change, warnings = await _put_one(context, work, item, called, done)
    except Invalid as error:
        return {f"{item.at}.{name}": text for name, text in error.details.items()}
    except (Conflict, NotFound) as error:
        return {item.at: str(error)}
    noun = SECTIONS[item.section].noun
    work.outcome.warnings += [f"{noun} {item.key}: {text}" for text in warnings]
    if change is None:
        work.outcome.unchanged += 1
    else:
        work.outcome.changes.append(change)
    return {}


async def _put_one(
    context: ApplyContext, work: Work, item: DeclaredItem, called: dict[str, str], done: _BulkOutcome
) -> tuple[PlannedChange | None, list[str]]:
    sort, before, whole = SECTIONS[item.section], item.before, work.wholes[item.at]
    if before is None:
        made = done.created.get(item.at) or await _created(context, sort, swapped(item.body, work.real))
        work.real[item.tentative] = ids.show(sort.prefix, made.id)
        return PlannedChange("create", item.section, item.key), list(made.warnings)
    if before.body == whole:
        return None, []
    shown = sort.hidden(before.body), sort.hidden(whole)
    changed = [
        FieldChange(change.name, swapped(change.old, called), swapped(change.new, called))
        for change in fields(before.body, whole, shown)
    ]
    warnings: Sequence[str] | None = done.updated.get(before.id)
    if warnings is None:
        warnings = await sort.update(context, before, swapped(whole, work.real))
    return PlannedChange("update", item.section, item.key, changed), list(warnings)


async def _created(context: ApplyContext, sort: Sort, body: Body) -> CreatedItem:
    assert sort.create is not None  # noqa: S101 - only monitors lack it, and are created together
    return await sort.create(context, body)


async def _delete(context: ApplyContext, work: Work, section: Section, *, plan: bool = False) -> None:
    left = work.left[section]
    gone: Collection[UUID] = ()
    if section == _MONITORS and not plan:
        gone = await monitors.delete_all(context, [resource.id for resource in left.values()])
    for key, resource in left.items():
        if not plan and resource.id not in gone:
            await SECTIONS[section].delete(context, resource.id)
        work.outcome.changes.append(PlannedChange("delete", section, key))


async def _remember(tx: Tx, context: ApplyContext, work: Work, section: Section) -> None:
    """Record which resource each key denotes; nothing is written if nothing changed."""
    before = work.managed[section]
    stand_for = {item.key: _id(work, item) for item in work.items[section]}
    new = {key: id_ for key, id_ in stand_for.items() if before.get(key) != id_}
    if new:
        await managed.put(tx, context.team_id, work.set_name, section, new)
    left = work.left[section]
    gone = [key for key in before if key not in stand_for and (work.prune or key not in left)]
    if gone:
        await managed.drop(tx, context.team_id, work.set_name, section, gone)


def _id(work: Work, item: DeclaredItem) -> UUID:
    found = item.before.id if item.before else None
    id_ = found or ids.read(SECTIONS[item.section].prefix, work.real[item.tentative])
    assert id_ is not None  # noqa: S101 - the services show ids of their own
    return id_


def _tentative(item: DeclaredItem) -> UUID:
    id_ = ids.read(SECTIONS[item.section].prefix, item.tentative)
    assert id_ is not None  # noqa: S101 - `items` made it
    return id_


def _updates(work: Work) -> bool:
    return any(
        item.before is not None and item.before.body != work.wholes[item.at]
        for listed in work.items.values()
        for item in listed
    )


def _called(work: Work) -> dict[str, str]:
    """Return the name of each resource in messages, by its id."""
    found: dict[str, str] = {}
    for section, sort in SECTIONS.items():
        found |= {
            ids.show(sort.prefix, resource.id): resource.name for resource in work.there[section].values()
        }
        found |= {ids.show(sort.prefix, resource.id): key for key, resource in work.left[section].items()}
        found |= {item.id: item.key for item in work.items[section]}
    return found
