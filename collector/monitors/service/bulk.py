"""One action on many monitors, each in a short transaction of its own."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from uuid import UUID

from collector.monitors.service import ends, monitors
from collector.monitors.service.bulk_fields import Action, BulkRequest, Filter
from collector.monitors.storage import lists
from collector.monitors.storage import monitors as table
from collector.monitors.storage.lists import ListedMonitor, MonitorFilter
from collector.platform.context import ServiceContext
from shared import ids
from shared.errors import Invalid, TocsinError

# More would keep the pool's connections from other requests.
_AT_ONCE = 4
# Shorter than the timeouts of proxies and clients.
_WITHIN_S = 50.0
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, slots=True)
class By:
    """The caller; *name*: the user's, as timelines show it."""

    team_id: int
    name: str


@dataclass(slots=True)
class Done:
    """*changed*: monitors that were changed; *failed*: others, with the reason."""

    matched: int
    changed: list[UUID] = field(default_factory=list)
    failed: list[tuple[UUID, str]] = field(default_factory=list)


async def carry_out(means: ServiceContext, by: By, wish: BulkRequest, clock: Callable[[], datetime]) -> Done:
    """Run the action on all matching monitors; those not reached in time count as failed.

    Repeating the request is safe, and continues where this one stopped.
    """
    found, strangers = await _matching(means, by.team_id, wish.filter)
    done = Done(len(found), failed=[(id_, "Monitor not found") for id_ in strangers])
    end, waiting = time.monotonic() + _WITHIN_S, iter(found)
    while time.monotonic() < end and (some := list(islice(waiting, _AT_ONCE))):
        actions = (_one(means, by, wish, item, clock(), done) for item in some)
        for error in filter(None, await asyncio.gather(*actions, return_exceptions=True)):
            raise error
    done.failed += [(item.id, "There was no time left for it; send the request again") for item in waiting]
    return done


async def _matching(
    means: ServiceContext, team_id: int, wanted: Filter
) -> tuple[list[ListedMonitor], list[UUID]]:
    """Return the matching monitors, newest first or as named, and ids without a monitor."""
    narrowed = MonitorFilter(status=wanted.status, type=wanted.type, group=wanted.group, tag=wanted.tag)
    async with means.db.connection() as tx:
        found = await lists.newest(tx, team_id, narrowed, _NO_LIMIT, 0)
        if wanted.ids is None:
            return found, []
        named = list(dict.fromkeys(id_ for text in wanted.ids if (id_ := ids.read("mon", text))))
        known = await table.known(tx, team_id, named)
    by_id = {item.id: item for item in found}
    return [by_id[id_] for id_ in named if id_ in by_id], [id_ for id_ in named if id_ not in known]


async def _one(
    means: ServiceContext, by: By, wish: BulkRequest, item: ListedMonitor, now: datetime, done: Done
) -> None:
    try:
        if await _DEEDS[wish.action](means, by, wish, item, now):
            done.changed.append(item.id)
    except Invalid as error:
        done.failed.append((item.id, "; ".join(f"{name} {text}" for name, text in error.details.items())))
    except TocsinError as error:
        done.failed.append((item.id, str(error)))


# Each of the following returns whether it changed anything: a new revision has the date of its action.


async def _pause(means: ServiceContext, by: By, _: BulkRequest, item: ListedMonitor, now: datetime) -> bool:
    return (await monitors.pause(means, by.team_id, item.id, now)).updated_at == now


async def _resume(means: ServiceContext, by: By, _: BulkRequest, item: ListedMonitor, now: datetime) -> bool:
    return (await monitors.resume(means, by.team_id, item.id, now)).updated_at == now


async def _silence(
    means: ServiceContext, by: By, wish: BulkRequest, item: ListedMonitor, now: datetime
) -> bool:
    assert wish.silence is not None  # noqa: S101 - `parse` sets it for a silence
    await monitors.silence(means, by.team_id, item.id, wish.silence, by.name, now)
    return True


async def _unsilence(
    means: ServiceContext, by: By, _: BulkRequest, item: ListedMonitor, now: datetime
) -> bool:
    await monitors.unsilence(means, by.team_id, item.id)
    return item.silenced_until is not None and item.silenced_until > now


async def _tag(means: ServiceContext, by: By, wish: BulkRequest, item: ListedMonitor, now: datetime) -> bool:
    return (await monitors.tag(means, by.team_id, item.id, wish.tags, now)).monitor.updated_at == now


async def _delete(means: ServiceContext, by: By, _: BulkRequest, item: ListedMonitor, now: datetime) -> bool:
    await ends.delete(means.db, means.signals, by.team_id, item.id, now, who=means.who)
    return True


Deed = Callable[[ServiceContext, By, BulkRequest, ListedMonitor, datetime], Awaitable[bool]]

_DEEDS: Mapping[Action, Deed] = {
    "pause": _pause,
    "resume": _resume,
    "silence": _silence,
    "unsilence": _unsilence,
    "tag": _tag,
    "untag": _tag,
    "delete": _delete,
}
