"""Notifies a team through its other channels of one that has failed for an hour, or recovered."""

from datetime import datetime, timedelta
from typing import Final

import structlog

from collector.events.core import events as payloads
from collector.events.core.kinds import EventKind
from collector.events.storage import events
from collector.notifications.storage import deliveries, faults, monitor_deliveries
from collector.notifications.storage.faults import ChannelFault
from collector.platform.storage.db import Db, Tx
from shared import ids
from shared.clock import UtcClock
from shared.errors import TocsinError

log = structlog.get_logger()

PATIENCE: Final = timedelta(hours=1)
_AT_A_TIME: Final = 20


class ChannelAlarms:
    """Notifies about failing channels. Any number may run; senders find the deliveries at their next poll."""

    __slots__ = ("_db", "_now")

    def __init__(self, db: Db, *, now: UtcClock) -> None:
        self._db = db
        self._now = now

    async def turn(self) -> bool:
        """Notify about some channels. Return whether more are waiting."""
        async with self._db.transaction() as tx:
            channel_faults = await faults.news(tx, PATIENCE, _AT_A_TIME)
            for fault in channel_faults:
                await _notify(tx, fault, self._now())
        return len(channel_faults) == _AT_A_TIME


async def _notify(tx: Tx, news: ChannelFault, now: datetime) -> None:
    """Notify every other channel directly, bypassing the router and the channels' event filters."""
    shown = ids.show("chan", news.channel_id)
    log.warning("channel works again" if news.works else "channel has failed for an hour", channel=shown)
    listeners = await faults.others(tx, news.team_id, news.channel_id)
    kind = EventKind.CHANNEL_RECOVERED if news.works else EventKind.CHANNEL_FAILING
    payload = payloads.channel(
        kind, id_=news.channel_id, name=news.name, type_=news.type, since=news.failing_since,
        error=news.last_error, now=now,
    )  # fmt: skip
    await events.append(tx, news.team_id, news.channel_id, kind, payload, now)
    last = await monitor_deliveries.take(tx, news.team_id, news.channel_id)
    if last is None:
        raise TocsinError("an event of a channel is gone as soon as it is there")
    await deliveries.insert(
        tx,
        [
            deliveries.NewDelivery(
                team_id=news.team_id,
                id=ids.uuid7(),
                channel_id=channel_id,
                stream_id=news.channel_id,
                sequence=last.sequence,
                event_id=last.id,
                event_kind=kind,
            )
            for channel_id in listeners
        ],
    )
