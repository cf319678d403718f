"""Sends due deliveries, the channels side by side, and records the outcome of each attempt."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import structlog

from collector.events.core.events import Fact
from collector.events.core.timeline import TimelineType
from collector.events.storage import timeline
from collector.notifications.channels import Channel, load
from collector.notifications.channels.message import Message, Sent
from collector.notifications.core.retry import LONGEST, MAX_EXPIRIES, RetryPolicy, next_try
from collector.notifications.jobs import channel_faults
from collector.notifications.jobs.budget import Places, room
from collector.notifications.jobs.channel_faults import DISABLED
from collector.notifications.jobs.message import compose
from collector.notifications.storage import deliveries as table
from collector.notifications.storage import senders
from collector.notifications.storage.deliveries import AttemptOutcome, ClaimedDelivery
from collector.platform import metrics
from collector.platform.delivery import DeliveryStatus, Undelivered
from collector.platform.seal import Keyring, SealScope, whole
from collector.platform.storage.db import Db, Tx
from collector.platform.transport import Transport
from shared import ids
from shared.clock import UtcClock
from shared.errors import Unavailable
from shared.loop import Bell

log = structlog.get_logger()

_PLACES: Final = Places()
_BEAT_S: Final = 2.0
_ALIVE_FOR: Final = timedelta(seconds=6)
# uvloop busy-loops on timers shorter than that.
_SHORTEST_S: Final = 0.001
_MAIL: Final = "email"


@dataclass(frozen=True, slots=True)
class Try:
    """The result of one attempt. *error* None: it was delivered; *note*: remark for the log."""

    policy: RetryPolicy
    status_code: int | None = None
    latency_ms: int | None = None
    error: str | None = None
    retry_after_s: float | None = None
    lasting: bool = False
    note: str | None = None
    reached: frozenset[str] = frozenset()


class Sender:
    """Sends deliveries. Any number may run. `shared.loop.forever` runs `turn` with *bell*; then call `close`.

    Do not share the mailer of *transport*: leases expire even while a mail waits in its queue.
    """

    def __init__(
        self,
        db: Db,
        keyring: Keyring,
        transport: Transport,
        *,
        public_url: str,
        now: UtcClock,
        places: Places = _PLACES,
    ) -> None:
        self._db = db
        self._keyring = keyring
        self._transport = transport
        self._public_url = public_url
        self._now = now
        self._places = places
        self.bell = Bell()
        self._id = uuid4()
        self._beat_due = 0.0
        self._flying: dict[tuple[UUID, int], tuple[ClaimedDelivery, asyncio.Task[None]]] = {}
        self._done: list[tuple[ClaimedDelivery, AttemptOutcome]] = []
        self._alarm: asyncio.TimerHandle | None = None

    async def turn(self) -> bool:
        """Record finished attempts, start due ones, and ring the bell when the next one is due."""
        done, self._done = self._done, []
        try:
            async with self._db.transaction() as tx:
                await self._beat(tx)
                await self._record(tx, done)
                await table.walk(tx)
                claimed, all_ = await self._claim(tx)
                wait_s = await table.next_due(tx)
        except BaseException:
            self._done[:0] = done
            self._beat_due = 0.0
            raise
        for delivery in claimed:
            self._start(delivery)
        self._wake_in(wait_s)
        return not all_

    async def close(self, grace_s: float = 5.0) -> None:
        """Let attempts under way finish within *grace_s*, leave the rest to others, record everything."""
        self._wake_in(None)
        tasks = [task for _, task in self._flying.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # A task that was cancelled before its first step has no result.
        self._done += [(delivery, interrupted(delivery)) for delivery, _ in self._flying.values()]
        self._flying.clear()
        try:
            async with self._db.transaction() as tx:
                await self._record(tx, self._done)
                await senders.retire(tx, self._id)
        except Unavailable:
            log.warning("delivery outcomes not recorded; will be retried", deliveries=len(self._done))

    async def _beat(self, tx: Tx) -> None:
        """Take over the deliveries of a dead sender at once, instead of when their leases expire."""
        if time.monotonic() < self._beat_due:
            return
        first = not self._beat_due
        if await senders.beat(tx, self._id, _ALIVE_FOR) or first:
            mine = [*self._flying.values(), *self._done]
            await senders.adopt(tx, self._id, [delivery.id for delivery, _ in mine])
        self._beat_due = time.monotonic() + _BEAT_S

    async def _claim(self, tx: Tx) -> tuple[list[ClaimedDelivery], bool]:
        """Lease as many due deliveries as there is room for; also return whether those are all."""
        flying = [delivery for delivery, _ in self._flying.values()]
        mails = sum(delivery.channel_type == _MAIL for delivery in flying)
        free = room(self._places, Counter(delivery.team_id for delivery in flying), mails)
        if not free.most:
            return [], True
        busy = Counter(delivery.channel_id for delivery in flying)
        claimed = await table.claim(tx, free.most, free.each, busy, free.crowded, free.mails)
        over = [(delivery, table.LOST) for delivery in claimed if delivery.status == DeliveryStatus.FAILED]
        await _note(tx, over, self._now())
        return [delivery for delivery in claimed if delivery.status == DeliveryStatus.PENDING], len(
            claimed
        ) < free.most

    async def _record(self, tx: Tx, done: Sequence[tuple[ClaimedDelivery, AttemptOutcome]]) -> None:
        if not done:
            return
        moved = await table.finish(tx, [finish for _, finish in done])
        await channel_faults.record(
            tx, [(delivery, finish) for delivery, finish in done if finish.id in moved]
        )
        failed = [
            (delivery, finish.error or "")
            for delivery, finish in done
            if moved.get(finish.id) is DeliveryStatus.FAILED
        ]
        await _note(tx, failed, self._now())

    def _start(self, delivery: ClaimedDelivery) -> None:
        task = asyncio.create_task(self._deliver(delivery))
        self._flying[delivery.id, delivery.attempt] = (delivery, task)

    async def _deliver(self, delivery: ClaimedDelivery) -> None:
        try:
            finish = next_step(delivery, await self._try(delivery))
        except asyncio.CancelledError:
            finish = interrupted(delivery)
        log.info(
            "tried",
            delivery=ids.show("dlv", delivery.id),
            attempt=delivery.attempt,
            status=finish.status.name.lower(),
            error=finish.error,
        )
        metrics.deliveries.labels(finish.status.name.lower()).inc()
        del self._flying[delivery.id, delivery.attempt]
        self._done.append((delivery, finish))
        self.bell.ring()

    async def _try(self, delivery: ClaimedDelivery) -> Try:
        """Make one attempt; any failure is part of the result."""
        policy = RetryPolicy()
        started = time.monotonic()
        try:
            channel = self._channel(delivery)
            policy = channel.policy
            if not delivery.enabled:
                return Try(policy, error=DISABLED, lasting=True)
            sent = await channel.send(self._message(delivery), self._transport, self._now())
        except Undelivered as error:
            return _missed(policy, error, _ms_since(started))
        except Exception:
            log.exception("delivery attempt raised an exception", delivery=ids.show("dlv", delivery.id))
            return Try(policy, error="something went wrong here")
        return _arrived(policy, sent, _ms_since(started))

    def _channel(self, delivery: ClaimedDelivery) -> Channel:
        place = SealScope(delivery.team_id, "channels", delivery.channel_id, "secrets")
        return load(delivery.channel_type, whole(self._keyring, delivery.config, delivery.secrets, place))

    def _message(self, delivery: ClaimedDelivery) -> Message:
        fact = Fact(
            delivery.event_id,
            delivery.event_kind,
            delivery.stream_id,
            delivery.sequence,
            delivery.payload,
            delivery.incident_id,
        )
        reached = frozenset(delivery.reached.split("\n"))
        return compose(fact, delivery.id, self._public_url, reached, delivery.team_id)

    def _wake_in(self, seconds: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(max(seconds, _SHORTEST_S), self.bell.ring)


def _arrived(policy: RetryPolicy, sent: Sent, took_ms: int) -> Try:
    return Try(policy, sent.status, took_ms, note=sent.note)


def _missed(policy: RetryPolicy, error: Undelivered, took_ms: int) -> Try:
    return Try(
        policy,
        error.status,
        took_ms,
        str(error),
        error.retry_after_s,
        lasting=error.lasting,
        reached=error.reached,
    )


def next_step(delivery: ClaimedDelivery, tried: Try) -> AttemptOutcome:
    """What happens to the delivery after this attempt."""
    asked = None if tried.retry_after_s is None else timedelta(seconds=tried.retry_after_s)
    again = tried.error is not None and not tried.lasting
    wait = next_try(tried.policy, delivery.tries, asked) if again else None
    if wait is not None:
        status = DeliveryStatus.PENDING
    else:
        status = DeliveryStatus.DELIVERED if tried.error is None else DeliveryStatus.FAILED
    return AttemptOutcome(
        team_id=delivery.team_id,
        id=delivery.id,
        attempt=delivery.attempt,
        status=status,
        wait=wait,
        status_code=tried.status_code,
        latency_ms=tried.latency_ms,
        error=tried.error,
        note=tried.note,
        reached="\n".join(sorted(tried.reached)),
        pause=_pause(tried),
    )


def _pause(tried: Try) -> timedelta | None:
    if tried.retry_after_s is None or tried.error is None or not tried.policy.obliging:
        return None
    return min(timedelta(seconds=tried.retry_after_s), LONGEST)


def interrupted(delivery: ClaimedDelivery) -> AttemptOutcome:
    """The sender stops during this attempt: another one repeats it at once, as after an expired lease."""
    spent = delivery.expiries >= MAX_EXPIRIES
    return AttemptOutcome(
        team_id=delivery.team_id,
        id=delivery.id,
        attempt=delivery.attempt,
        status=DeliveryStatus.FAILED if spent else DeliveryStatus.PENDING,
        interrupted=not spent,
        error=table.LOST,
    )


async def _note(tx: Tx, failed: Sequence[tuple[ClaimedDelivery, str]], now: datetime) -> None:
    """Add the failed deliveries to the timelines of their incidents."""
    entries = [
        timeline.NewTimelineEntry(
            team_id=delivery.team_id,
            incident_id=delivery.incident_id,
            type=TimelineType.NOTIFICATION_FAILED,
            details=f"{delivery.event_kind} did not reach {delivery.channel_name}: {error}",
        )
        for delivery, error in failed
        if delivery.incident_id is not None
    ]
    if entries:
        await timeline.add(tx, entries, now)


def _ms_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
