"""Time in which silence does not count: no collector ran, or the monitor was paused."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from collector.evaluation.storage import collector_presence
from collector.heartbeats.storage import heartbeats
from collector.platform.deadlines import Between, unheard
from collector.platform.storage.db import Tx

# A collector records its presence less often than this is checked.
_BETWEEN: Final = timedelta(seconds=15)


async def downtimes(
    tx: Tx, monitors: Sequence[int], oldest: datetime, since: datetime, now: datetime
) -> dict[int, list[Between]]:
    """Return the spans between *oldest* and *now* by the keys of *monitors*; *since*: see `TrustedClock`."""
    spans = await collector_presence.between(tx, oldest, now)
    heard = max((until for _, until in spans), default=None)
    if heard is not None and heard >= since and now - heard <= _BETWEEN:
        spans.append((heard, now))
    gaps = unheard(spans, oldest, now)
    deaf: defaultdict[int, list[Between]] = defaultdict(lambda: list(gaps))
    for monitor, start, end in await heartbeats.pauses(tx, monitors):
        deaf[monitor].append((start, end))
    return deaf
