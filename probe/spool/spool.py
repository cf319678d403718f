"""The spool: segment files, bounded by size and age.

Nothing is lost silently: if batches must be dropped, the oldest go first, are counted, and are reported as
a gap.
"""

import contextlib
import errno
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import structlog

from probe.checks._check import Missed
from probe.clock import wall_us as clock_us
from probe.spool.appender import SpoolAppender
from probe.spool.ledger import DroppedBatches, Ledger
from probe.spool.missed import join, missed_in
from probe.spool.replay import ReplayReader
from probe.spool.segments import Sealed, Segment, finish_repairs, load, pack, passes, scan
from shared.clock import MicrosecondClock
from shared.clock import boot_us as clock_boot_us
from shared.errors import CannotStart
from shared.wire.convert import SPOOL_AGE_S

log = structlog.get_logger()

MIB: Final = 1024 * 1024
# Acknowledged batches are kept for a day, so that a restored database can catch up.
KEPT_S: Final = 24 * 3600


class Spool:
    """Only one process appends at a time; batches are completely on disk or absent."""

    def __init__(
        self,
        directory: Path,
        *,
        max_bytes: int = 512 * MIB,
        segment_bytes: int = 4 * MIB,
        memory_bytes: int = 8 * MIB,
        wall_us: MicrosecondClock = clock_us,
        boot_us: MicrosecondClock = clock_boot_us,
    ) -> None:
        self._files = SpoolAppender(directory)
        self._max_bytes = max_bytes
        self._segment_bytes = min(segment_bytes, max_bytes // 4)
        self._memory_bytes = memory_bytes
        self.wall_us = wall_us
        self._boot_us = boot_us
        self.ledger = Ledger(directory / "positions.json")
        self._segments: list[Segment] = []
        self._held: deque[Sealed] = deque()  # batches that the disk did not accept
        self._held_bytes = 0
        self._totals: dict[int, int] = {}
        self._positions_fault = ""  # that was logged
        finish_repairs(directory)
        self._segments.extend(self._load_all(directory))
        # Segments whose age no trusted clock has confirmed yet.
        self._unconfirmed = list(self._segments)
        self._next_number = self._segments[-1].number + 1 if self._segments else 1

    def append(self, incarnation: int, seq: int, results: int, data: bytes) -> None:
        """Store a sealed batch. It survives this process from now on, a machine's crash after a turn."""
        total = self._totals.get(incarnation, 0) + results
        self._totals[incarnation] = total
        sealed = Sealed(incarnation, seq, seq, results, total, self.wall_us(), data)
        if self._held or not self._store(sealed):
            self._hold(sealed)

    def ranges(self) -> list[tuple[int, int, int]]:
        """Incarnation, first and last seq of what is stored, or lost and not reported; oldest first."""
        spans: dict[int, tuple[int, int]] = {}
        for incarnation, first, last in self._pieces():
            least, most = spans.get(incarnation, (first, last))
            spans[incarnation] = min(least, first), max(most, last)
        return [(incarnation, *span) for incarnation, span in spans.items()]

    def read_after(self, incarnation: int, seq: int) -> ReplayReader:
        """The batches of an incarnation after *seq*, in order, future ones included."""
        return ReplayReader(self, incarnation, seq)

    def acked(self, incarnation: int, seq: int) -> None:
        """A collector has committed everything up to *seq*."""
        self.ledger.move(incarnation, seq)
        while self._held and self._is_acked(self._held[0].incarnation, self._held[0].seq):
            self._held_bytes -= self._held.popleft().size

    @property
    def bytes(self) -> int:
        return self._held_bytes + sum(segment.size for segment in self._segments)

    @property
    def unacked(self) -> int:
        """The number of unacknowledged batches."""
        return sum(
            max(0, last - max(first - 1, self.ledger.acked(incarnation)))
            for incarnation, first, last in self.ranges()
        )

    @property
    def results_lost(self) -> int:
        return self.ledger.results_lost

    async def turn(self) -> bool:
        """Sync what was written and delete what is old; call it every second."""
        await self._files.sync()
        self._flush()
        self._expire()
        self.ledger.forget({incarnation for incarnation, _, _ in self._pieces()})
        if not self._held:
            try:
                await self.ledger.save_aside()
            except OSError as error:
                self._make_room_for_positions(error)  # the next turn saves them
            else:
                self._positions_fault = ""
        return False

    def close(self) -> None:
        """Sync everything and release the lock."""
        self._flush()
        if not self._held:
            self._save_positions()
        self._files.close()

    def segment_after(self, incarnation: int, seq: int, likely: Segment | None = None) -> Segment | None:
        """The oldest segment with a batch of the incarnation after *seq*; *likely* is checked first."""
        if likely and likely.alive and likely.holds_after(incarnation, seq):
            return likely
        return next((segment for segment in self._segments if segment.holds_after(incarnation, seq)), None)

    def held_after(self, incarnation: int, seq: int) -> Sealed | None:
        """The first batch after *seq* that the disk did not accept."""
        held = (batch for batch in self._held if batch.incarnation == incarnation and batch.seq > seq)
        return next(held, None)

    def mend(self, segment: Segment, *, patient: bool = True) -> None:
        """Reload a segment that lacks what it should contain.

        If *patient*, an unreadable segment stays unchanged: raises OSError.
        """
        if segment is self._files.current:
            self._files.rotate()
        if segment.alive:
            fresh = self._load(segment.path, patient=patient)
            segment.alive = False
            place = self._segments.index(segment)
            self._segments[place : place + 1] = [fresh] if fresh else []
            if fresh:
                fresh.seen(self._boot_us(), segment.age_us(self._boot_us()))

    def confirm(self, wall_us: int) -> None:
        """A collector's clock shows *wall_us*: compute the age of segments from earlier lives.

        Segments that are too old are deleted before any of them is sent.
        """
        wall_us = min(wall_us, self.wall_us())
        for segment in self._unconfirmed:
            segment.seen(self._boot_us(), max(0, wall_us - segment.wall_us))
        self._unconfirmed.clear()
        self._expire()

    def _load(self, path: Path, *, patient: bool) -> Segment | None:
        """The segment in *path*, None if it is empty. If *patient*, raises OSError for temporary errors."""
        try:
            segment = load(path)
        except OSError as error:
            if patient and passes(error):
                raise
            log.warning("spool segment unreadable", segment=path.name, fault=error.strerror)
            return None
        if segment.size:
            return segment
        path.unlink()
        return None

    def _load_all(self, directory: Path) -> Iterator[Segment]:
        for path in sorted(directory.glob("[0-9]*.seg")):
            try:
                segment = self._load(path, patient=True)
            except OSError as error:
                if error.errno == errno.EIO:
                    segment = self._load(path, patient=False)
                else:
                    raise CannotStart(f"cannot read {path}: {error.strerror}") from error
            if segment:
                segment.seen(self._boot_us())
                yield segment

    def _store(self, sealed: Sealed) -> bool:
        """Write to disk; if it is full, delete acknowledged batches."""
        while fault := self._write(sealed):
            if not self._drop_acked():
                if not self._held:
                    log.warning("spool disk rejects writes", fault=fault.strerror)
                return False
        return True

    def _write(self, sealed: Sealed) -> OSError | None:
        record = pack(sealed)
        try:
            segment = self._writable(len(record))
            self._files.write(record)
        except OSError as error:
            return error
        segment.note(sealed)
        segment.seen(self._boot_us())
        return None

    def _writable(self, size: int) -> Segment:
        current = self._files.current
        if current and current.size + size <= self._segment_bytes:
            return current
        self._files.rotate()
        self._make_room()
        current = self._files.begin(self._next_number)
        self._next_number += 1
        self._segments.append(current)
        return current

    def _hold(self, sealed: Sealed) -> None:
        self._held.append(sealed)
        self._held_bytes += sealed.size
        while self._held_bytes > self._memory_bytes and self._held:
            self._shed()

    def _shed(self) -> None:
        """Disk and memory are full: drop the oldest batches."""
        oldest = next((segment for segment in self._segments if segment.size), None)
        if oldest:
            self._drop(oldest, "disk full")
            self._flush()
        else:
            sealed = self._held.popleft()
            self._held_bytes -= sealed.size
            missed = missed_in(sealed.data)
            lost = DroppedBatches(sealed.first_seq, sealed.seq, sealed.results, "disk full", missed)
            self.ledger.lose(sealed.incarnation, lost)

    def _flush(self) -> None:
        while self._held and self._store(self._held[0]):
            self._held_bytes -= self._held.popleft().size

    def _make_room(self) -> None:
        while self._segments and self.bytes + self._segment_bytes > self._max_bytes:
            if not self._drop_acked():
                self._drop(self._segments[0], "spool full")

    def _save_positions(self) -> None:
        try:
            self.ledger.save()
        except OSError as error:
            if self._make_room_for_positions(error):
                with contextlib.suppress(OSError):  # without them the next start sends more than it must
                    self.ledger.save()

    def _make_room_for_positions(self, fault: OSError) -> bool:
        """Delete acknowledged batches, if there are any; else log *fault* once."""
        if self._drop_acked():
            return True
        if self._positions_fault != (reason := fault.strerror or str(fault)):
            self._positions_fault = reason
            log.warning("spool positions not saved", fault=reason)
        return False

    def _expire(self) -> None:
        now_us = self._boot_us()
        for segment in list(self._segments):
            age_s = segment.age_us(now_us) / 1_000_000
            if age_s > SPOOL_AGE_S or (age_s > KEPT_S and self._is_done(segment)):
                self._drop(segment, "too old")

    def _drop_acked(self) -> bool:
        done = next((each for each in self._segments if each.size and self._is_done(each)), None)
        if done:
            self._drop(done, "")
        return done is not None

    def _is_done(self, segment: Segment) -> bool:
        return all(self._is_acked(incarnation, last) for incarnation, (_, last) in segment.spans.items())

    def _is_acked(self, incarnation: int, seq: int) -> bool:
        return seq <= self.ledger.acked(incarnation)

    def _drop(self, segment: Segment, reason: str) -> None:
        if segment is self._files.current:
            self._files.rotate()
        for incarnation, lost in self._unacked_in(segment, reason).items():
            self.ledger.lose(incarnation, lost)
            log.warning("results dropped", results=lost.results, reason=reason)
        segment.alive = False
        self._segments.remove(segment)
        with contextlib.suppress(OSError):  # a file that remains is found by the next start
            segment.path.unlink()

    def _unacked_in(self, segment: Segment, reason: str) -> dict[int, DroppedBatches]:
        if self._is_done(segment):
            return {}
        counts = dict.fromkeys(segment.spans, 0)
        missed: dict[int, dict[int, Missed]] = {incarnation: {} for incarnation in segment.spans}
        for record in _records(segment.path):
            if not self._is_acked(record.incarnation, record.seq):
                counts[record.incarnation] += record.results
                join(missed[record.incarnation], missed_in(record.data))
        return {
            incarnation: DroppedBatches(
                max(first, self.ledger.acked(incarnation) + 1),
                last,
                counts[incarnation],
                reason,
                missed[incarnation],
            )
            for incarnation, (first, last) in segment.spans.items()
            if not self._is_acked(incarnation, last)
        }

    def _pieces(self) -> list[tuple[int, int, int]]:
        """Incarnation, first, last of each loss, each segment's part and each held batch; oldest first."""
        return [
            # Lost batches are older than everything that remains, because the oldest are dropped first.
            *(
                (inc, lost.first_seq, lost.last_seq)
                for inc in self.ledger.incarnations()
                for lost in self.ledger.losses(inc)
            ),
            *((inc, *span) for segment in self._segments for inc, span in segment.spans.items()),
            *((sealed.incarnation, sealed.first_seq, sealed.seq) for sealed in self._held),
        ]


def _records(path: Path) -> Iterator[Sealed]:
    with contextlib.suppress(OSError):  # then their number is unknown
        yield from (record for record in scan(path.read_bytes()) if isinstance(record, Sealed))
