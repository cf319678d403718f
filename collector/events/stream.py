"""Followers of events: one reader serves all of this process, and runs only while there are any."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import orjson

from collector.events.core.events import body
from collector.events.storage import reads
from collector.events.storage.reads import Placed
from collector.platform.access import counts
from collector.platform.storage.db import Db, Tx
from shared.errors import Conflict, Unavailable
from shared.loop import Bell, forever

MOST = 2_000
# What may wait for one who reads too slowly.
MOST_WAITING = 1_000
# Before a team's first event.
ORIGIN = UUID(int=0)
_PAGE = 500
_REST = timedelta(seconds=1)
_TOKENS_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class Start:
    """A stream begins after *position*, where the event *id* stands; *last* is the team's newest position.

    *reset*: what came after the id that was asked for is not known here.
    """

    position: int
    id: UUID
    last: int
    reset: bool = False


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event as it is sent: *data* is its payload in JSON, made once for all who hear it."""

    position: int
    id: str
    kind: str
    monitor_id: UUID
    data: bytes


class StreamFollower:
    """One who follows: what happens waits here until it is taken, unless it becomes too much.

    It hears what happens after *since*, and is not told again what it knows, up to *after*.
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
        """Keep what is new to this one, or end: it can resume where it was."""
        if self.ended or note.position <= self.after:
            return
        self._waiting.append(note)
        if len(self._waiting) > MOST_WAITING:
            self.end()
        self._bell.ring()

    def end(self) -> None:
        """There will be no more."""
        self.ended = True
        self._waiting.clear()
        self._bell.ring()

    async def take(self, seconds: float) -> list[StreamEvent]:
        """All that waits; nothing when there is nothing for *seconds*, or when this has ended."""
        if not self._waiting and not self.ended:
            await self._bell.wait(seconds)
        taken, self._waiting = self._waiting, []
        return taken


class Following:
    """*public_url* has no slash at its end; ring *bell* when events were committed, to have them read now."""

    def __init__(self, db: Db, *, public_url: str, now: Callable[[], datetime]) -> None:
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
        """Where a stream begins that saw *last_id* last; with None, now.

        An id that is not here, since it is too old or a database was restored that knows it not, is no fault:
        a browser would never call again.
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
        """One more follower, to `leave` in the end; *gone* is asked now and then whether it went away.

        *most*: how many the team's plan allows. Of a process's places a team takes half of what the others
        leave, so that however many teams take all they get, another one finds some.
        Raises Conflict for the plan's bound, Unavailable for the process's.
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
        """Nothing runs here any more when this was the last one."""
        listener.end()
        of_team = self._listeners[listener.team_id]
        of_team.discard(listener)
        if not of_team:
            del self._listeners[listener.team_id], self._heads[listener.team_id]
        if not self._listeners and self._task is not None:
            self._task.cancel()
            self._task = None

    async def missed(self, listener: StreamFollower) -> AsyncIterator[list[StreamEvent]]:
        """What happened between the listener's start and its joining, a page at a time."""
        reached = listener.after
        while reached < listener.since and not listener.ended:
            async with self._db.connection() as tx:
                found = await reads.after(tx, {listener.team_id: reached}, _PAGE)
            page = [self._note(one) for one in found if one.position <= listener.since]
            if not page:
                return
            yield page
            reached = page[-1].position

    async def turn(self) -> bool:
        """Read what is new for all teams that are followed, and end who may follow no longer."""
        for listener in self._everyone():
            if listener.gone():
                listener.end()
        asked = dict(self._heads)
        async with self._db.connection() as tx:
            found = await reads.after(tx, asked, _PAGE)
            await self._end_the_revoked(tx)
        # Meanwhile a team's last follower may have gone, and another have come who stands elsewhere.
        same = {team_id for team_id, head in asked.items() if self._heads.get(team_id) == head}
        for one in found:
            if one.team_id in same:
                self._tell(one)
        return _PAGE in Counter(one.team_id for one in found).values()

    async def close(self) -> None:
        """End all streams, and begin none."""
        self._closed = True
        for listener in self._everyone():
            listener.end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _everyone(self) -> list[StreamFollower]:
        return [each for of_team in self._listeners.values() for each in of_team]

    def _tell(self, placed: Placed) -> None:
        self._heads[placed.team_id] = placed.position
        note = self._note(placed)
        for listener in tuple(self._listeners[placed.team_id]):
            listener.hear(note)

    def _note(self, placed: Placed) -> StreamEvent:
        fact = placed.fact
        told = body(fact, self._public_url)
        return StreamEvent(placed.position, told["id"], fact.kind, fact.stream_id, orjson.dumps(told))

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
