"""Reads the spool in order: one batch at a time, and a gap where batches are missing."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import structlog

from probe.spool.segments import HEADER_BYTES, Header, Sealed, Segment, open_record, passes, read_header
from shared.clock import boot_id, boot_us
from shared.wire.convert import Batch, Gap, encode

if TYPE_CHECKING:
    from probe.spool.spool import Spool

log = structlog.get_logger()

# A read is retried every few seconds: after minutes of failures it is given up.
_MOST_FAILURES: Final = 60


class ReplayReader:
    """Reads one incarnation from a position on; at the end it waits for new batches."""

    def __init__(self, spool: "Spool", incarnation: int, seq: int) -> None:
        self.incarnation = incarnation
        self.seq = seq
        self._spool = spool
        self._total: int | None = 0 if seq == 0 else None  # number of results up to seq, if known
        self._segment: Segment | None = None
        self._fd = -1
        self._offset = 0
        self._failures = 0  # consecutive failures
        self.stuck = False  # there is more, but it is unreadable right now

    def next(self) -> Sealed | None:
        """The next batch or gap; None if there is nothing yet, or if it is `stuck`."""
        try:
            sealed = self._find()
        except OSError as error:
            self._stick(error)
            return None
        self._failures, self.stuck = 0, False
        hole_end = sealed.first_seq - 1 if sealed else self._last_lost()
        if hole_end > self.seq:
            sealed = self._gap(hole_end, sealed)
        if sealed:
            self.seq = sealed.seq
            self._total = sealed.total if sealed.total >= 0 else None
        return sealed

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._segment = -1, None

    def _stick(self, error: OSError) -> None:
        self.close()
        self._failures += 1
        if not self.stuck:
            log.warning("spool segment unreadable; will be retried", fault=error.strerror)
        self.stuck = True

    def _find(self) -> Sealed | None:
        while segment := self._spool.segment_after(self.incarnation, self.seq, self._segment):
            try:
                sealed = self._walk(segment)
            except OSError as error:
                if passes(error) and self._failures < _MOST_FAILURES:
                    raise
                sealed = None
            if sealed:
                return sealed
            # The index lists a batch that the file does not contain.
            self.close()
            self._spool.mend(segment, patient=self._failures < _MOST_FAILURES)
        return self._spool.held_after(self.incarnation, self.seq)

    def _walk(self, segment: Segment) -> Sealed | None:
        if segment is not self._segment:
            self.close()
            self._fd = os.open(segment.path, os.O_RDONLY | os.O_CLOEXEC)
            self._segment, self._offset = segment, 0
        for header in self._headers():
            if header.incarnation == self.incarnation:
                if header.seq > self.seq:
                    return open_record(header, os.pread(self._fd, header.size, self._offset))
                self._total = header.total if header.seq == self.seq else self._total
        return None

    def _headers(self) -> Iterator[Header]:
        """The headers from here on; `_offset` is the position of the last one returned."""
        while header := read_header(os.pread(self._fd, HEADER_BYTES, self._offset)):
            yield header
            self._offset += header.size

    def _last_lost(self) -> int:
        losses = self._spool.ledger.losses(self.incarnation)
        return losses[-1].last_seq if losses else 0

    def _gap(self, last: int, behind: Sealed | None) -> Sealed:
        """A gap in place of the batches from here to *last*, or to where another reason begins."""
        first, results, reason = self.seq + 1, -1, "not in the spool"
        for lost in self._spool.ledger.losses(self.incarnation):
            if lost.first_seq > first:
                last = min(last, lost.first_seq - 1)
                break
            if lost.last_seq >= first:
                last, results, reason = lost.last_seq, lost.results, lost.reason
                break
        if results < 0 and behind and behind.first_seq == last + 1 and self._total is not None:
            results = behind.total - behind.results - self._total
        total = self._total + results if self._total is not None and results >= 0 else -1
        return self._seal_gap(first, last, max(results, 0), reason, total)

    def _seal_gap(self, first: int, last: int, results: int, reason: str, total: int) -> Sealed:
        wall_us = self._spool.wall_us()
        self._spool.ledger.report(self.incarnation, last)
        batch = Batch(self.incarnation, first, last, boot_id(), boot_us(), wall_us, gap=Gap(results, reason))
        return Sealed(self.incarnation, first, last, results, total, wall_us, encode(batch))
