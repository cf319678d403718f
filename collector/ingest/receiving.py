"""Metrics on their way in: admitted, taken into books, and counted by one transaction for many pushes."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID

from collector.core import metric_conditions
from collector.core import series as core
from collector.core.receptions import Found
from collector.core.seal import Keyring, whole
from collector.ingest import otlp, remote_write
from collector.ingest.gathering import Gathering
from collector.ingest.pushes import Pushed, Pushes
from collector.ingest.pushes import Written as Stored
from collector.ingest.series import Book, Taken, Taking
from collector.services.monitor_columns import sealed_at
from collector.services.series import NOT_ADMITTED, Written, bare
from collector.storage import series as table
from collector.storage import series_conditions
from collector.storage.db import Db, Tx
from collector.storage.series import Brought, Next, Reception, Value
from collector.storage.series_conditions import Of
from shared.clock import EPOCH
from shared.errors import Invalid, Unauthorized
from shared.kinds import load
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus
from shared.results import Status

_MOST: Final = 500
# A monitor that was changed is seen so by those who push after so many seconds.
_FRESH_S: Final = 2.0
_UNKNOWN_MOST: Final = 10_000
_ROWS: Final = 2_000
_HELD: Final = 128 << 20
_FORGETTING: Final = timedelta(minutes=10)
_MOST_SHOWN: Final = 32_767


class Receiving:
    """One per collector. `counting` is the turn that commits pushes, `keeping` the one that writes values."""

    def __init__(self, db: Db, keyring: Keyring, pushes: Pushes, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._keyring = keyring
        self._pushes = pushes
        self._now = now
        self._books: dict[UUID, Book] = {}
        self._read_at: dict[UUID, float] = {}
        self._unknown: dict[UUID, float] = {}
        self._waiting: Gathering[Book, None] = Gathering(self._commit, most=_MOST)
        self._forgot_at: datetime | None = None

    async def admit(self, id_: UUID | None, token: str, type_: str) -> Book:
        """The book of that monitor. Raises Unauthorized, Limited."""
        book = await self._book(id_) if id_ is not None else None
        wanted = Prometheus if type_ == "prometheus" else OpenTelemetry
        if book is None or not isinstance(book.kind, wanted) or not book.admits(bare(token)):
            raise Unauthorized(NOT_ADMITTED)
        book.spend()
        return book

    async def remote_write(self, book: Book, body: bytes, *, second: bool) -> Written:
        """Take a body of remote write, of version 2 if *second*. Raises Invalid, Unavailable."""
        taking = Taking(book, self._now())
        raw = remote_write.unpack(body)
        try:
            await (remote_write.take_v2 if second else remote_write.take_v1)(raw, taking)
        except Invalid:
            await self._count(book, taking.taken)
            raise
        return await self._count(book, taking.taken)

    async def otlp(self, book: Book, body: bytes, *, json: bool) -> Written:
        """Take a request of OTLP, in JSON or in protobuf. Raises Invalid, Unavailable."""
        taking = Taking(book, self._now())
        raw = await asyncio.to_thread(otlp.from_json, body) if json else body
        try:
            await otlp.take(raw, taking)
        except Invalid:
            await self._count(book, taking.taken)
            raise
        return await self._count(book, taking.taken)

    async def counting(self) -> bool:
        return await self._waiting.turn()

    async def keeping(self) -> bool:
        """Write what changed since the last turn, and let go of what is old."""
        now = self._now()
        for book in list(self._books.values()):
            if dirty := book.dirty():
                await self._keep(book, dirty)
        before = now - timedelta(seconds=core.FORGOTTEN_S)
        if self._forgot_at is None or now - self._forgot_at > _FORGETTING:
            async with self._db.transaction() as tx:
                await table.forget(tx, before)
            self._forgot_at = now
            for book in self._books.values():
                book.forget(int(before.timestamp()))
        self._make_room()
        return False

    async def late(self, tx: Tx, found: Sequence[Found]) -> Callable[[], None]:
        """Store what a look found; the answer is to be called after the commit."""
        try:
            written = await self._pushes.write(tx, [_result(one) for one in found])
        except BaseException:
            self._pushes.forget()
            raise
        return partial(self._pushes.settle, written)

    async def _count(self, book: Book, taken: Taken) -> Written:
        if book.fresh or book.observed:
            await self._waiting.add(book)
        return Written(taken.samples, taken.histograms, taken.refused, _why(taken))

    async def _commit(self, group: Sequence[Book]) -> Sequence[None]:
        now = self._now()
        books = {book.monitor: book for book in group}
        counted = {monitor: (book.fresh, len(book.observed)) for monitor, book in books.items()}
        try:
            async with self._db.transaction() as tx:
                brought = [_brought(book) for book in books.values() if book.fresh]
                stood = await table.note(tx, brought, now) if brought else []
                errors = await _errors(tx, list(books.values()), now)
                stored = await self._tell(tx, stood, books, errors, now)
        except BaseException:
            self._pushes.forget()
            raise
        for monitor, (fresh, observed) in counted.items():
            books[monitor].settle(fresh, observed)
        if stored is not None:
            self._pushes.settle(stored)
        return [None] * len(group)

    async def _tell(
        self,
        tx: Tx,
        stood: Sequence[Reception],
        books: Mapping[int, Book],
        errors: Mapping[UUID, str],
        now: datetime,
    ) -> Stored | None:
        """A result for each whose next one is due, or that is not as it was."""
        told = [one for one in stood if one.due or one.bad is not bool(errors.get(one.monitor_id))]
        if not told:
            return None
        found = [Found(one.monitor, now, errors.get(one.monitor_id, ""), one.samples) for one in told]
        stored = await self._pushes.write(tx, [_result(one) for one in found])
        after = zip(told, found, strict=True)
        await table.settle(
            tx, [_next(one, books[one.monitor], now, bad=bool(said.error)) for one, said in after]
        )
        return stored

    async def _book(self, id_: UUID) -> Book | None:
        clock = time.monotonic()
        if clock - max(self._read_at.get(id_, -_FRESH_S), self._unknown.get(id_, -_FRESH_S)) < _FRESH_S:
            return self._books.get(id_)
        async with self._db.connection() as tx:
            row = await table.receiver(tx, id_)
        if row is None or row.type not in {"prometheus", "opentelemetry"}:
            self._note_unknown(id_, clock)
            return None
        held = self._books.pop(id_, None)
        if held is None or held.revision != row.revision:
            held = self._opened(row)
        self._books[id_] = held
        self._read_at[id_] = clock
        return held

    def _opened(self, row: table.Receiver) -> Book:
        place = sealed_at(row.team_id, row.id)
        kind = load(row.type, whole(self._keyring, row.config, row.secrets, place))
        assert isinstance(kind, Prometheus | OpenTelemetry)  # noqa: S101 - what `_book` has asked for
        return Book(row.team_id, row.id, row.monitor, row.interval_s, row.revision, kind)

    def _note_unknown(self, id_: UUID, clock: float) -> None:
        self._books.pop(id_, None)
        self._read_at.pop(id_, None)
        if len(self._unknown) >= _UNKNOWN_MOST:
            self._unknown.clear()
        self._unknown[id_] = clock

    async def _keep(self, book: Book, dirty: Sequence[core.Series]) -> None:
        for start in range(0, len(dirty), _ROWS):
            part = dirty[start : start + _ROWS]
            values = [_value(one) for one in part]
            async with self._db.transaction() as tx:
                await table.keep(tx, book.team_id, book.id, values)
            for one, value in zip(part, values, strict=True):
                one.dirty = _moment(one.at_ms) != value.at

    def _make_room(self) -> None:
        """The books that were not asked for the longest go first, once they are too many together."""
        held = sum(book.weight for book in self._books.values())
        for id_, book in list(self._books.items()):
            if held <= _HELD:
                break
            if not book.fresh and not book.dirty():
                del self._books[id_], self._read_at[id_]
                held -= book.weight


async def _errors(tx: Tx, books: Sequence[Book], now: datetime) -> dict[UUID, str]:
    """What fails those that have conditions, after what was observed of them is written."""
    ruled = [book for book in books if book.kind.conditions]
    if not ruled:
        return {}
    of = {book.id: Of(book.team_id, book.id, book.revision) for book in ruled}
    moved = [
        (of[book.id], one)
        for book in ruled
        for one in metric_conditions.moved(book.kind.conditions, list(book.observed))
    ]
    if moved:
        await series_conditions.move(tx, moved)
    heard = [(of[book.id], now - timedelta(seconds=book.stale_after_s)) for book in ruled]
    holding = await series_conditions.holding(tx, heard)
    found = {book.id: metric_conditions.error(book.kind.conditions, holding[book.id], now) for book in ruled}
    return {id_: error for id_, error in found.items() if error}


def _brought(book: Book) -> Brought:
    look_in = timedelta(seconds=book.stale_after_s)
    return Brought(book.team_id, book.id, book.revision, book.fresh, look_in)


def _result(found: Found) -> Pushed:
    """Its code says how many samples matched since the result before it."""
    status = Status.DOWN if found.error else Status.UP
    code = min(found.samples, _MOST_SHOWN)
    return Pushed(found.monitor, status, found.at, code=code, error=found.error)


def _next(stood: Reception, book: Book, now: datetime, *, bad: bool) -> Next:
    return Next(
        stood.team_id,
        stood.monitor_id,
        book.revision,
        stood.last_at,
        next_at=now + timedelta(seconds=book.interval_s),
        due_at=now + timedelta(seconds=book.stale_after_s),
        bad=bad,
        told=True,
    )


def _why(taken: Taken) -> str:
    return "; ".join(f"{why} ({count} samples)" for why, count in taken.faults.items())


def _moment(at_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=at_ms)


def _value(one: core.Series) -> Value:
    seen_at = EPOCH + timedelta(seconds=one.seen_s)
    return Value(one.key, dict(one.labels), _moment(one.at_ms), one.value, one.stale, seen_at)
