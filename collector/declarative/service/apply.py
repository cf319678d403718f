"""Makes a team's resources match the declared ones in one transaction, or plans it."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any, NoReturn

from collector.declarative import storage
from collector.declarative.answers import (
    AppliedConfiguration,
    ChangedField,
    DeclaredChange,
    DeclaredKey,
    Section,
)
from collector.declarative.service.actions import Work, carry_out
from collector.declarative.service.changes import ApplyOutcome
from collector.declarative.service.items import (
    SET,
    USUAL_SET,
    DeclaredItem,
    Names,
    demand_own,
    items,
    keep,
    match,
    refer,
)
from collector.declarative.service.kinds import SECTIONS
from collector.declarative.service.shape import ApplyContext, ExistingResource
from collector.events.storage import events
from collector.history.storage import deleted
from collector.platform.access import Actor
from collector.platform.context import ServiceContext
from collector.platform.prepared import ResultsMissing, SlowWork, begun_again
from collector.platform.storage.db import Tx
from collector.platform.storage.nested import Crossed, impatient
from collector.status_pages.service.domains import ServiceNames
from shared.backoff import full_jitter
from shared.clock import UtcClock
from shared.errors import Conflict, Invalid, Unavailable

_PATIENCE_S = 30.0
_FIRST_S, _MOST_S = 0.05, 1.0


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """*plan*: only return what would change; *prune*: delete resources that are no longer declared.

    *set_name*: the set of the files; *take_over*: also take over resources of other sets.
    """

    sections: Mapping[str, Any]
    plan: bool = False
    prune: bool = False
    set_name: str = USUAL_SET
    take_over: bool = False


@dataclass(frozen=True, slots=True)
class _Done:
    outcome: ApplyOutcome
    forgotten: list[int] = field(default_factory=list)


class _ApplyUndone(Exception):
    """Rolls the transaction back."""

    def __init__(self, done: _Done) -> None:
        super().__init__()
        self.done = done


async def apply(
    means: ServiceContext, who: Actor, body: Mapping[str, Any], clock: UtcClock, *, own: ServiceNames
) -> ApplyOutcome:
    """Apply *body*, which has the sections, each a list, and ``plan`` and ``prune``.

    Raises Invalid with every fault, keyed by its place (``monitors[3].url``); Conflict above a limit of the
    team's plan; Unavailable when other transactions hold needed locks for long.
    """
    asked = ApplyRequest(
        body,
        plan=body.get("plan", False),
        prune=body.get("prune", False),
        set_name=body.get(SET, USUAL_SET),
        take_over=body.get("takeOver", False),
    )
    until = time.monotonic() + _PATIENCE_S
    for wait in full_jitter(_FIRST_S, _MOST_S):
        try:
            done = await begun_again(lambda: _tried(means, who, asked, clock(), own))
        except Crossed:
            if time.monotonic() > until:
                break
            await asyncio.sleep(wait)
        else:
            await _settle(means, done)
            return done.outcome
    raise Unavailable("Others are changing the same things, or files are being applied; try again")


def answer(outcome: ApplyOutcome, *, plan: bool) -> AppliedConfiguration:
    """Return the outcome as callers see it."""
    return AppliedConfiguration(
        plan=plan,
        changes=[
            DeclaredChange(
                action=change.action,
                section=change.section,
                resource=SECTIONS[change.section].noun,
                key=change.key,
                fields=[
                    ChangedField(name=field.name, old=field.old, new=field.new) for field in change.fields
                ],
            )
            for change in outcome.changes
        ],
        unchanged=outcome.unchanged,
        taken_over=[_key(section, key) for section, key in outcome.taken_over],
        left=[_key(section, key) for section, key in outcome.left],
        warnings=outcome.warnings or None,
    )


def _key(section: Section, key: str) -> DeclaredKey:
    return DeclaredKey(section=section, resource=SECTIONS[section].noun, key=key)


async def _tried(
    means: ServiceContext, who: Actor, asked: ApplyRequest, now: datetime, own: ServiceNames
) -> _Done:
    """Try once in a transaction. Raises Crossed."""
    try:
        async with means.db.transaction() as tx, impatient(tx) as db:
            if not await storage.lock(tx, who.team_id):
                raise Crossed
            inner = replace(means, db=db, who=who, later=[])
            context = ApplyContext(inner, who, own, now)
            done = _Done(await _apply(tx, context, asked), context.forgotten)
            if asked.plan:
                _undo(done)
            if inner.later:
                await events.append_all(tx, inner.later, now)
            return done
    except _ApplyUndone as undone:
        return undone.done


def _undo(done: _Done) -> NoReturn:
    raise _ApplyUndone(done)


async def _settle(means: ServiceContext, done: _Done) -> None:
    """After the commit: notify the probes, and delete results of deleted monitors."""
    means.signals.ring()
    if done.forgotten:
        async with means.db.transaction() as tx:
            await deleted.forget(tx, done.forgotten)


async def _apply(tx: Tx, context: ApplyContext, asked: ApplyRequest) -> ApplyOutcome:
    work = await _looked_up(tx, context, asked)
    await _read(context, work, any_section=any(section in asked.sections for section in SECTIONS))
    _hold_to_plan(context, work)
    await carry_out(tx, context, work, plan=asked.plan)
    return work.outcome


async def _looked_up(tx: Tx, context: ApplyContext, asked: ApplyRequest) -> Work:
    """Match declared items with existing resources."""
    known = await storage.all_(tx, context.team_id)
    declared = items(asked.sections)
    work = Work(declared.items, str(asked.set_name), prune=asked.prune, faults=declared.faults)
    for section, sort in SECTIONS.items():
        there = {resource.id: resource for resource in await sort.present(context, tx)}
        listed, keys = work.items[section], known.get(work.set_name, {}).get(section, {})
        others = {name: of[section] for name, of in known.items() if name != work.set_name and section in of}
        foreign = {key: id_ for of in others.values() for key, id_ in of.items() if id_ in there}
        taken = list(match(listed, {**foreign, **keys}, there))
        work.elsewhere[section] = {key: there[id_] for key, id_ in foreign.items() if key not in keys}
        if not asked.take_over:
            sets = {key: name for name, of in others.items() for key in of}
            demand_own(listed, sets, work.elsewhere[section])
        if sort.load is not None:
            wanted = [item.before for item in listed if item.before]
            if len(await sort.load(context, tx, wanted)) < len(wanted):
                raise Crossed  # deleted since `present`
        taken += [item for item in listed if item.key in work.elsewhere[section]]
        work.outcome.taken_over += [(section, item.key) for item in taken]
        mine = {item.key for item in listed}
        work.there[section], work.managed[section] = there, keys
        work.left[section] = {
            key: there[id_] for key, id_ in keys.items() if key not in mine and id_ in there
        }
    if not asked.prune:
        work.outcome.left += [(section, key) for section, left in work.left.items() for key in left]
    return work


async def _read(context: ApplyContext, work: Work, *, any_section: bool) -> None:
    """Compute the wanted body of each item. Raises Invalid with all faults; Lacking."""
    named = {section: _names(work, section) for section in SECTIONS}
    faults, lacking = dict(work.faults), list[SlowWork]()
    if work.prune and not any_section:
        faults["prune"] = "nothing is declared, and all that files ever made would go"
    for section, listed in work.items.items():
        for item in listed:
            keep(item)
            refer(item, named)
            try:
                reading = await SECTIONS[section].read(context, item.body, item.before)
            except ResultsMissing as more:
                lacking += more.works
                continue
            found = {**reading.faults, **item.faults}
            faults |= {f"{item.at}.{name}": text for name, text in found.items()}
            if reading.whole is not None:
                work.wholes[item.at] = reading.whole
            if reading.monitor is not None:
                work.monitors[item.at] = reading.monitor
            await asyncio.sleep(0)  # lets other requests run
    if faults:
        raise Invalid(faults)
    if lacking:
        raise ResultsMissing(lacking)
    work.items["monitors"] = _in_order(work)


def _hold_to_plan(context: ApplyContext, work: Work) -> None:
    """Check the limits of the team's plan. Raises Conflict."""
    plan = context.means.plan
    if plan is None:
        return
    limits: Sequence[tuple[Section, int]] = (("monitors", plan.monitors), ("channels", plan.channels))
    for section, most in limits:
        called = f"{SECTIONS[section].noun}s"
        made = sum(item.before is None for item in work.items[section])
        gone = len(work.left[section]) if work.prune else 0
        wanted = len(work.there[section]) + made - gone
        if made and wanted > most:
            raise Conflict(f"The team's plan allows {most} {called} at most; these files would make {wanted}")


def _names(work: Work, section: Section) -> Names:
    listed, left = work.items[section], work.left[section]
    mine = {item.before.id for item in listed if item.before}
    leaving = {resource.id for resource in left.values()} if work.prune else set()
    named = mine | leaving
    others: dict[str, list[ExistingResource]] = {}
    for resource in work.there[section].values():
        if resource.id not in named:
            others.setdefault(resource.name, []).append(resource)
    return Names(
        SECTIONS[section].prefix,
        {item.key: item for item in listed},
        work.elsewhere[section] | ({} if work.prune else left),
        others,
        frozenset(left if work.prune else ()),
    )


def _in_order(work: Work) -> list[DeclaredItem]:
    """Return the monitors, each after those that it depends on. Raises Invalid."""
    waiting = {item.id: item for item in work.items["monitors"]}
    parents = {
        id_: [parent for parent in work.wholes[item.at]["dependsOn"] if parent in waiting]
        for id_, item in waiting.items()
    }
    sorter = TopologicalSorter(parents)
    with suppress(CycleError):  # it still yields those that depend on no circle
        sorter.prepare()
    ordered: list[DeclaredItem] = []
    while ready := sorter.get_ready():
        ordered += [waiting.pop(id_) for id_ in ready]
        sorter.done(*ready)
    if waiting:
        raise Invalid(
            {
                f"{item.at}.dependsOn": "would make a circle: a monitor must not depend on itself"
                for item in waiting.values()
            }
        )
    return ordered
