"""Handing monitors to probes: one monitor when it changes, all of them when probes come or go."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from collector.core.assignment import Pool, choose, pool
from collector.services import signals
from collector.storage import plans, probes
from collector.storage.db import Tx

_HEARD_WITHIN = timedelta(seconds=60)
_MONITORS_A_SIGNAL = 1000


async def place(tx: Tx, monitor: int, revision: int, locations: Sequence[str], *, now: datetime) -> list[str]:
    """Have *monitor* checked at *locations*; answers those that no live probe serves by itself.

    Call it after the monitor's row was written, in the same transaction; ring the signals after its commit.
    No locations means that nobody checks it: what is known stays for the resume while the monitor exists,
    and goes with it.
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
        await plans.drop(tx, monitor, list(after))
        await plans.put(tx, monitor, revision, list(after), list(after.values()))
    concerned = {probe for probe in (*before.values(), *after.values()) if probe}
    await _tell(tx, [(probe, monitor) for probe in concerned], now)
    return unserved


async def rebalance(tx: Tx, now: datetime, *, patient: bool = False) -> int:
    """Give every (monitor, location) to the probe that should have it; answers how many moved.

    *patient* leaves with silent probes what they hold, for the time in which they may find us again.
    """
    await plans.exclude(tx)
    known = await probes.candidates(tx)
    teams = {probe.team_id for probe in known}
    pools: dict[tuple[int, str, str], Pool] = {}
    moves: list[tuple[plans.Holding, UUID | None]] = []
    for held in await plans.holdings(tx):
        # Teams without probes of their own share their pools.
        key = (held.team_id if held.team_id in teams else 0, held.type, held.name)
        here = pools.get(key)
        if here is None:
            here = pools[key] = pool(known, *key, now)
        chosen = choose(here, held.monitor, held.location, held.probe_id, patient=patient)
        if chosen != held.probe_id:
            moves.append((held, chosen))
    if moves:
        await plans.move(
            tx,
            [held.monitor for held, _ in moves],
            [held.location for held, _ in moves],
            [probe for _, probe in moves],
        )
        both = ((probe, held.monitor) for held, chosen in moves for probe in (held.probe_id, chosen))
        await _tell(tx, both, now)
    return len(moves)


async def _tell(tx: Tx, changes: Iterable[tuple[UUID | None, int]], now: datetime) -> None:
    """Signal which probes' plans changed at which monitors, a bounded number in each signal."""
    monitors: defaultdict[UUID, list[int]] = defaultdict(list)
    for probe, monitor in changes:
        if probe is not None:
            monitors[probe].append(monitor)
    for probe, theirs in monitors.items():
        for start in range(0, len(theirs), _MONITORS_A_SIGNAL):
            part = theirs[start : start + _MONITORS_A_SIGNAL]
            await signals.send(tx, "plan", {"probes": {str(probe): part}}, now + _HEARD_WITHIN)
