"""Assigns monitors to probes: one when it changes, all when probes come or go."""

import asyncio
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

from collector.platform import signals
from collector.platform.storage.db import Tx
from collector.probes.core.assignment import ProbeCandidate, ProbePool, choose, pool
from collector.probes.storage import plans, probes
from collector.web3.storage import writes

_HEARD_WITHIN = timedelta(seconds=60)
_MONITORS_A_SIGNAL = 1000
# How many new monitors are placed before other work of the loop gets a turn.
_AT_ONCE = 100


async def place(tx: Tx, monitor: int, revision: int, locations: Sequence[str], *, now: datetime) -> list[str]:
    """Assign *monitor* at *locations* to probes; return the locations without a live probe of their own.

    Call it after the monitor's row was written, in the same transaction; ring the signals after the commit.
    Without locations nobody checks the monitor: its state is kept until it is resumed or deleted.
    """
    await plans.share(tx)
    owner = await plans.owner(tx, monitor)
    before = await plans.lock_holders(tx, monitor)
    unserved: list[str] = []
    after: dict[int, UUID | None] = {}
    if owner is None:
        await plans.drop(tx, monitor)
    elif not locations:
        await plans.release(tx, monitor, revision)
    else:
        names = list(dict.fromkeys(locations))
        numbers = await plans.name_locations(tx, names)
        known = await probes.candidates(tx)
        for name in names:
            here = pool(known, *owner, name, now)
            after[numbers[name]] = choose(here, monitor, numbers[name], before.get(numbers[name]))
            unserved += [] if here.own else [name]
        await plans.put(tx, monitor, revision, list(after), list(after.values()))
        if before.keys() - after.keys():
            await plans.drop(tx, monitor, list(after))
            await writes.let_go(tx, monitor, list(after))
    concerned = {probe for probe in (*before.values(), *after.values()) if probe}
    await _signal(tx, "plan", [(probe, monitor) for probe in concerned])
    return unserved


@dataclass(frozen=True, slots=True)
class NewPlacement:
    """A monitor that has just been created or changed; *type*: of its checks."""

    monitor: int
    type: str
    locations: Sequence[str]


async def place_new(
    tx: Tx, team_id: int, revision: int, created: Sequence[NewPlacement], now: datetime
) -> list[dict[str, bool]]:
    """Assign a team's new monitors to probes; ring the signals after the commit.

    Call it after their rows are written, in the same transaction. Return of each monitor the locations
    without a live probe of their own, and whether some probe checks there in its place.
    """
    rows, unserved = await _choices(tx, team_id, created, {}, now)
    await plans.put_new(tx, revision, *map(list, zip(*rows, strict=True)))
    await _signal(tx, "plan", ((probe, monitor) for monitor, _, _, probe in rows))
    return unserved


async def place_revised(
    tx: Tx,
    team_id: int,
    revised: Sequence[tuple[int, NewPlacement]],
    before: Mapping[tuple[int, int], UUID | None],
    now: datetime,
) -> list[dict[str, bool]]:
    """As `place_new`, for monitors that are checked where they were; *revised*: with their new revisions.

    *before*: the probes of their locations, by (monitor, location), whose rows are locked.
    """
    revisions = {each.monitor: revision for revision, each in revised}
    rows, unserved = await _choices(tx, team_id, [each for _, each in revised], before, now)
    await plans.put_all(
        tx,
        [
            plans.Placement(monitor, location, turn, revisions[monitor], probe)
            for monitor, location, turn, probe in rows
        ],
    )
    concerned = {(probe, monitor) for monitor, _, _, probe in rows}
    concerned |= {(probe, monitor) for (monitor, _), probe in before.items() if monitor in revisions}
    await _signal(tx, "plan", sorted(concerned, key=str))
    return unserved


async def drop(tx: Tx, monitors: Sequence[int], before: Mapping[tuple[int, int], UUID | None]) -> None:
    """Take deleted monitors from their probes; *before*: as in `place_revised`."""
    await plans.share(tx)
    await plans.drop_all(tx, monitors)
    deleted = frozenset(monitors)
    concerned = {(probe, monitor) for (monitor, _), probe in before.items() if monitor in deleted}
    await _signal(tx, "plan", sorted(concerned, key=str))


_Chosen: TypeAlias = list[tuple[int, int, int, UUID | None]]


async def _choices(
    tx: Tx,
    team_id: int,
    placed: Sequence[NewPlacement],
    before: Mapping[tuple[int, int], UUID | None],
    now: datetime,
) -> tuple[_Chosen, list[dict[str, bool]]]:
    """Return (monitor, location, turn, probe) of all; of each monitor, locations without its own probes."""
    await plans.share(tx)
    numbers = await plans.name_locations(tx, sorted({name for each in placed for name in each.locations}))
    pools = _Pools(await probes.candidates(tx), now)
    rows: _Chosen = []
    unserved: list[dict[str, bool]] = []
    for place, each in enumerate(placed, 1):
        without: dict[str, bool] = {}
        for turn, name in enumerate(each.locations):
            here = pools.of(team_id, each.type, name)
            number = numbers[name]
            chosen = choose(here, each.monitor, number, before.get((each.monitor, number)))
            rows.append((each.monitor, number, turn, chosen))
            if not here.own:
                without[name] = chosen is not None
        unserved.append(without)
        if place % _AT_ONCE == 0:
            await asyncio.sleep(0)
    return rows, unserved


@dataclass(frozen=True, slots=True)
class Reassignment:
    """The number of reassigned (monitor, location)s, and those that their holders must release first."""

    moved: int
    holdings: Sequence[plans.PlacedMonitor]

    @property
    def asked(self) -> int:
        return len(self.holdings)


async def rebalance(
    tx: Tx,
    now: datetime,
    *,
    patient: bool = False,
    gently: bool = False,
    overdue: Container[plans.PlacedMonitor] = (),
) -> Reassignment:
    """Give every (monitor, location) to the probe that should have it; ring the signals after the commit.

    *patient*: silent probes keep their assignments, while they may still reconnect. *gently*: a connected
    probe must first release an assignment, unless it is *overdue*; `hand_over` then moves it.
    """
    await plans.exclude(tx)
    pools = _Pools(await probes.candidates(tx), now)
    moves: list[_Move] = []
    asked: list[_Move] = []
    for held in await plans.holdings(tx):
        here = pools.of(held.team_id, held.type, held.name)
        chosen = choose(here, held.monitor, held.location, held.probe_id, patient=patient)
        if chosen != held.probe_id:
            asks = gently and held.probe_id in here.at_work and held not in overdue
            (asked if asks else moves).append((held, chosen))
    await _move(tx, moves)
    await _signal(tx, "release", ((held.probe_id, held.monitor) for held, _ in asked))
    return Reassignment(len(moves), [held for held, _ in asked])


async def hand_over(tx: Tx, probe_id: UUID, numbers: Sequence[int], now: datetime) -> int:
    """Reassign what *probe_id* has released; return the number of assignments.

    Each gets a new number, even if the same probe gets it again.
    """
    await plans.share(tx)
    pools = _Pools(await probes.candidates(tx), now)
    moves = [
        (held, choose(pools.of(held.team_id, held.type, held.name), held.monitor, held.location, probe_id))
        for held in await plans.lock_held(tx, probe_id, numbers)
    ]
    await _move(tx, moves)
    return len(moves)


async def stop(tx: Tx, probe_id: UUID, checks: Sequence[tuple[int, int]]) -> list[int]:
    """Stop these *checks* (monitor and revision), which stalled *probe_id*, on all probes.

    Every probe that has one gets it again, marked as stopped. Return the monitors, to be signalled.
    """
    await plans.share(tx)
    places = await plans.places(tx, probe_id, checks)
    monitors = sorted({monitor for monitor, _, _ in places})
    if places:
        await plans.move(
            tx,
            [monitor for monitor, _, _ in places],
            [location for _, location, _ in places],
            [probe for _, _, probe in places],
        )
        await plans.note_stopped(tx, monitors)
        await _signal(tx, "plan", ((probe, monitor) for monitor, _, probe in places))
    return monitors


_Move = tuple[plans.PlacedMonitor, UUID | None]


class _Pools:
    """Builds each pool once: teams without probes of their own share theirs."""

    def __init__(self, known: Sequence[ProbeCandidate], now: datetime) -> None:
        self._known = known
        self._now = now
        self._teams = {probe.team_id for probe in known}
        self._made: dict[tuple[int, str, str], ProbePool] = {}

    def of(self, team_id: int, type_: str, location: str) -> ProbePool:
        key = (team_id if team_id in self._teams else 0, type_, location)
        here = self._made.get(key)
        if here is None:
            here = self._made[key] = pool(self._known, *key, self._now)
        return here


async def _move(tx: Tx, moves: Sequence[_Move]) -> None:
    if moves:
        await plans.move(
            tx,
            [held.monitor for held, _ in moves],
            [held.location for held, _ in moves],
            [probe for _, probe in moves],
        )
        both = ((probe, held.monitor) for held, chosen in moves for probe in (held.probe_id, chosen))
        await _signal(tx, "plan", both)


async def _signal(tx: Tx, kind: str, changes: Iterable[tuple[UUID | None, int]]) -> None:
    """Signal the affected monitors of each probe, a bounded number per signal."""
    monitors: defaultdict[UUID, list[int]] = defaultdict(list)
    for probe, monitor in changes:
        if probe is not None:
            monitors[probe].append(monitor)
    for probe, theirs in monitors.items():
        for start in range(0, len(theirs), _MONITORS_A_SIGNAL):
            part = theirs[start : start + _MONITORS_A_SIGNAL]
            await signals.send(tx, kind, {"probes": {str(probe): part}}, _HEARD_WITHIN)
