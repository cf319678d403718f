"""One action on many monitors, each in a short transaction of its own."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from collector.monitors.service import ends, monitors
from collector.monitors.service.bulk_fields import Action, BulkRequest, Filter, parse
from collector.monitors.service.followers import MonitorFollowers
from collector.monitors.storage import lists
from collector.monitors.storage import monitors as table
from collector.monitors.storage.lists import ListedMonitor, MonitorFilter
from collector.platform.access import Actor
from collector.platform.context import ServiceContext
from collector.platform.storage import audit
from collector.platform.storage.db import Db
from shared import ids
from shared.clock import UtcClock
from shared.errors import Invalid, TocsinError

# More would keep the pool's connections from other requests.
_AT_ONCE = 4
# Shorter than the timeouts of proxies and clients.
_WITHIN_S = 50.0
_NO_LIMIT = 2**31 - 1
# How long after a bulk request it can be taken back.
_UNDONE_WITHIN = timedelta(minutes=10)
# What takes each action back. Earlier silences and tags are not known any more.
REVERSED: Mapping[str, Action] = {"pause": "resume", "resume": "pause", "silence": "unsilence"}


@dataclass(frozen=True, slots=True)
class BulkCaller:
    """The caller; *name*: the user's, as timelines show it."""

    team_id: int
    name: str


@dataclass(slots=True)
class BulkOutcome:
    """*changed*: monitors that were changed; *failed*: others, with the reason."""

    matched: int
    changed: list[UUID] = field(default_factory=list)
    failed: list[tuple[UUID, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BulkRun:
    """A bulk request under way; *request*: the action and the filter; *by*: its caller."""

    context: ServiceContext
    followers: MonitorFollowers
    by: BulkCaller
    request: BulkRequest

    async def pause(self, item: ListedMonitor, now: datetime) -> bool:
        return (await monitors.pause(self.context, self.by.team_id, item.id, now)).updated_at == now

    async def resume(self, item: ListedMonitor, now: datetime) -> bool:
        return (await monitors.resume(self.context, self.by.team_id, item.id, now)).updated_at == now

    async def silence(self, item: ListedMonitor, now: datetime) -> bool:
        silence = self.request.silence
        assert silence is not None  # noqa: S101 - `parse` sets it for a silence
        await monitors.silence(self.context, self.by.team_id, item.id, silence, self.by.name, now)
        return True

    async def unsilence(self, item: ListedMonitor, now: datetime) -> bool:
        await monitors.unsilence(self.context, self.by.team_id, item.id)
        return item.silenced_until is not None and item.silenced_until > now

    async def tag(self, item: ListedMonitor, now: datetime) -> bool:
        tagged = await monitors.tag(self.context, self.by.team_id, item.id, self.request.tags, now)
        return tagged.monitor.updated_at == now

    async def delete(self, item: ListedMonitor, now: datetime) -> bool:
        db, signals, who = self.context.db, self.context.signals, self.context.who
        await ends.delete(db, signals, self.followers, self.by.team_id, item.id, now, who=who)
        return True


# Each returns whether it changed anything: a new revision has the date of its action.
_ACTIONS: Mapping[Action, Callable[[BulkRun, ListedMonitor, datetime], Awaitable[bool]]] = {
    "pause": BulkRun.pause,
    "resume": BulkRun.resume,
    "silence": BulkRun.silence,
    "unsilence": BulkRun.unsilence,
    "tag": BulkRun.tag,
    "untag": BulkRun.tag,
    "delete": BulkRun.delete,
}


async def reversal(db: Db, who: Actor, request_id: str, now: datetime) -> BulkRequest | None:
    """Return what takes back the actor's bulk request; None if it is too old or cannot be taken back.

    The audit log knows which monitors it changed.
    """
    async with db.connection() as tx:
        done = await audit.of_request(tx, who, request_id, "monitor", now - _UNDONE_WITHIN)
    action = REVERSED.get(done[0][0]) if done else None
    if action is None:
        return None
    return parse({"action": action, "filter": {"ids": [id_ for _, id_ in done]}})


async def carry_out(run: BulkRun, clock: UtcClock) -> BulkOutcome:
    """Run the action on all matching monitors; those not reached in time count as failed.

    Repeating the request is safe, and continues where this one stopped.
    """
    monitors, strangers = await _matching(run.context, run.by.team_id, run.request.filter)
    done = BulkOutcome(len(monitors), failed=[(id_, "Monitor not found") for id_ in strangers])
    end, waiting = time.monotonic() + _WITHIN_S, iter(monitors)
    while time.monotonic() < end and (some := list(islice(waiting, _AT_ONCE))):
        actions = (_change(run, item, clock(), done) for item in some)
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
        monitors = await lists.newest(tx, team_id, narrowed, _NO_LIMIT, 0)
        if wanted.ids is None:
            return monitors, []
        named = list(dict.fromkeys(id_ for text in wanted.ids if (id_ := ids.read("mon", text))))
        known = await table.known(tx, team_id, named)
    by_id = {item.id: item for item in monitors}
    return [by_id[id_] for id_ in named if id_ in by_id], [id_ for id_ in named if id_ not in known]


async def _change(run: BulkRun, item: ListedMonitor, now: datetime, done: BulkOutcome) -> None:
    try:
        if await _ACTIONS[run.request.action](run, item, now):
            done.changed.append(item.id)
    except Invalid as error:
        done.failed.append((item.id, "; ".join(f"{name} {text}" for name, text in error.details.items())))
    except TocsinError as error:
        done.failed.append((item.id, str(error)))
