"""Followers of events: one reader serves all of this process, and runs only while there are any."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import orjson

from collector.events.core.events import body
from collector.events.storage import reads
from collector.events.storage.reads import PlacedEvent
from collector.platform.access import counts
from collector.platform.storage.db import Db, Tx
from shared.clock import UtcClock
from shared.errors import Conflict, Unavailable
from shared.loop import Bell, forever

MOST = 2_000
# How many events may wait for a slow reader.
MOST_WAITING = 1_000
# The id before a team's first event.
ORIGIN = UUID(int=0)
_PAGE = 500
_REST = timedelta(seconds=1)
_TOKENS_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class Start:
    """A stream begins after *position*, that of the event *id*; *last*: the team's newest position.

    *reset*: the requested id is unknown here.
    """

    position: int
    id: UUID
    last: int
    reset: bool = False


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event as it is sent: *data* is its payload in JSON, encoded once for all followers."""

    position: int
    id: str
    kind: str
    monitor_id: UUID
    data: bytes


class StreamFollower:
    """One follower: events wait here until they are taken, up to a limit.

    It receives events after *since*, except those up to *after*, which it knows.
    """

    __slots__ = ("_bell", "_waiting", "after", "ended", "gone", "since", "team_id", "token_id")

    def __init__(
        self, team_id: int, token_id: UUID, after: int, since: int, gone: Callable[[], bool]
    ) -> None:
        self.team_id = team_id
        self.token_id = token_id
        self.after = after
        self.since = since
        self.gone = gone
        self.ended = False
        self._waiting: list[StreamEvent] = []
        self._bell = Bell()

    def hear(self, note: StreamEvent) -> None:
        """Queue an event that is new to this follower; over the limit end it: it can resume."""
        if self.ended or note.position <= self.after:
            return
        self._waiting.append(note)
        if len(self._waiting) > MOST_WAITING:
            self.end()
        self._bell.ring()

    def end(self) -> None:
        """End the follower: it receives nothing more."""
        self.ended = True
        self._waiting.clear()
        self._bell.ring()

    async def take(self, seconds: float) -> list[StreamEvent]:
        """Return all waiting events; none if none came for *seconds*, or if this has ended."""
        if not self._waiting and not self.ended:
            await self._bell.wait(seconds)
        taken, self._waiting = self._waiting, []
        return taken


class EventStreamHub:
    """*public_url* has no final slash; ring *bell* after a commit of events to read them at once."""

    def __init__(self, db: Db, *, public_url: str, now: UtcClock) -> None:
        self.bell = Bell()
        self._db = db
        self._public_url = public_url
        self._now = now
        self._heads: dict[int, int] = {}
        self._listeners: dict[int, set[StreamFollower]] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self._checked_at = time.monotonic()

    async def start(self, team_id: int, last_id: UUID | None) -> Start:
        """Return where a stream begins that saw *last_id* last; with None, now.

        An id that is unknown, because it is too old or a database was restored, is no error:
        a browser would never reconnect.
        """
        async with self._db.connection() as tx:
            kept = await reads.span(tx, team_id)
            found = await reads.position(tx, team_id, last_id) if last_id else None
        now = Start(kept.last, kept.last_id or ORIGIN, kept.last)
        if last_id is None:
            return now
        if found is not None:
            return Start(found, last_id, max(kept.last, found))
        if last_id == ORIGIN and (kept.first == 1 or kept.last == 0):
            return Start(0, ORIGIN, kept.last)
        return Start(now.position, now.id, now.last, reset=True)

    def join(
        self, team_id: int, token_id: UUID, start: Start, gone: Callable[[], bool], *, most: int
    ) -> StreamFollower:
        """Add a follower, to `leave` in the end; *gone* is polled for whether its client left.

        *most*: how many the team's plan allows. A team gets half of the process's places that the others
        leave, so that however many teams use their share, another one still finds some.
        Raises Conflict for the plan's limit, Unavailable for the process's.
        """
        mine = len(self._listeners.get(team_id, ()))
        others = sum(map(len, self._listeners.values())) - mine
        if mine >= most:
            raise Conflict(f"The team's plan allows {most} streams of events at a time")
        if self._closed or mine >= max(1, (MOST - others) // 2) or mine + others >= MOST:
            raise Unavailable("No more streams of events can be had here now", retry_after=5)
        of_team = self._listeners.setdefault(team_id, set())
        since = self._heads.setdefault(team_id, start.last)
        listener = StreamFollower(team_id, token_id, start.position, since, gone)
        of_team.add(listener)
        if self._task is None:
            self._task = asyncio.create_task(
                forever("following", self.turn, _REST, self.bell), name="following"
            )
        return listener

    def leave(self, listener: StreamFollower) -> None:
        """Remove a follower; the last one stops the reader."""
        listener.end()
        of_team = self._listeners[listener.team_id]
        of_team.discard(listener)
        if not of_team:
            del self._listeners[listener.team_id], self._heads[listener.team_id]
        if not self._listeners and self._task is not None:
            self._task.cancel()
            self._task = None

    async def missed(self, listener: StreamFollower) -> AsyncIterator[list[StreamEvent]]:
        """Yield the events between the listener's start and its joining, a page at a time."""
        reached = listener.after
        while reached < listener.since and not listener.ended:
            async with self._db.connection() as tx:
                events = await reads.after(tx, {listener.team_id: reached}, _PAGE)
            page = [self._note(placed) for placed in events if placed.position <= listener.since]
            if not page:
                return
            yield page
            reached = page[-1].position

    async def turn(self) -> bool:
        """Read new events of all followed teams, and end followers whose token expired or was revoked."""
        for listener in self._everyone():
            if listener.gone():
                listener.end()
        asked = dict(self._heads)
        async with self._db.connection() as tx:
            events = await reads.after(tx, asked, _PAGE)
            await self._end_the_revoked(tx)
        # Meanwhile a team's last follower may have left, and another joined at another position.
        same = {team_id for team_id, head in asked.items() if self._heads.get(team_id) == head}
        for placed in events:
            if placed.team_id in same:
                self._pass_on(placed)
        return _PAGE in Counter(placed.team_id for placed in events).values()

    async def close(self) -> None:
        """End all streams, and refuse new ones."""
        self._closed = True
        for listener in self._everyone():
            listener.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _everyone(self) -> list[StreamFollower]:
        return [each for of_team in self._listeners.values() for each in of_team]

    def _pass_on(self, placed: PlacedEvent) -> None:
        self._heads[placed.team_id] = placed.position
        note = self._note(placed)
        for listener in tuple(self._listeners[placed.team_id]):
            listener.hear(note)

    def _note(self, placed: PlacedEvent) -> StreamEvent:
        fact = placed.fact
        payload = body(fact, self._public_url)
        return StreamEvent(placed.position, payload["id"], fact.kind, fact.stream_id, orjson.dumps(payload))

    async def _end_the_revoked(self, tx: Tx) -> None:
        if time.monotonic() - self._checked_at < _TOKENS_EVERY_S:
            return
        everyone = self._everyone()
        lives = await reads.lives(tx, {(each.team_id, each.token_id) for each in everyone})
        for listener in everyone:
            life = lives.get(listener.token_id)
            if life is None or not counts(life.expires_at, life.revoked_at, self._now()):
                listener.end()
        self._checked_at = time.monotonic()
