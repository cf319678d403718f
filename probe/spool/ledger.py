"""Which batches are acknowledged and which were lost, kept over restarts."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import structlog

from probe.checks._check import Missed
from probe.spool import missed

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class DroppedBatches:
    """Batches dropped before a collector had them; *missed*: lost chain findings, by assignment."""

    first_seq: int
    last_seq: int
    results: int
    reason: str
    missed: Mapping[int, Missed] = field(default_factory=dict)


class Ledger:
    """Positions and losses of each incarnation; written lazily: a stale one only causes repetition."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._acked: dict[int, int] = {}
        self._lost: dict[int, list[DroppedBatches]] = {}
        self._reported: dict[int, int] = {}
        self._changed = False
        self._writing = threading.Lock()
        self.results_lost = 0
        # By assignment, what its check must read again, now that a collector knows of the loss.
        self.owed: dict[int, Missed] = {}
        if path.exists():
            self._read()

    def acked(self, incarnation: int) -> int:
        return self._acked.get(incarnation, 0)

    def move(self, incarnation: int, seq: int) -> None:
        """A collector has everything up to *seq*: possibly less than before, after a restore."""
        if self._acked.get(incarnation) == seq:
            return
        self._acked[incarnation] = seq
        self._changed = True
        known = self._lost.get(incarnation, ())
        for lost in known:
            if lost.last_seq <= seq:
                missed.owe(self.owed, lost.missed)
        self._put(incarnation, [lost for lost in known if lost.last_seq > seq])

    def lose(self, incarnation: int, lost: DroppedBatches) -> None:
        """Record a loss; it is merged with the previous one, unless that was reported already."""
        known = self._lost.get(incarnation, [])
        before = known[-1] if known else None
        if (
            before
            and before.reason == lost.reason
            and before.last_seq + 1 == lost.first_seq
            and self._reported.get(incarnation, 0) < before.first_seq
        ):
            known = known[:-1]
            results = before.results + lost.results
            both = dict(before.missed)
            missed.join(both, lost.missed)
            lost = replace(lost, first_seq=before.first_seq, results=results, missed=both)
            self.results_lost -= before.results
        self._put(incarnation, [*known, lost])
        self.results_lost += lost.results
        self._changed = True

    def losses(self, incarnation: int) -> list[DroppedBatches]:
        """The losses in order of seq."""
        return self._lost.get(incarnation, [])

    def incarnations(self) -> list[int]:
        """Incarnations with unacknowledged losses, in order of their first loss."""
        return list(self._lost)

    def report(self, incarnation: int, seq: int) -> None:
        """Losses up to *seq* are being reported: they must not grow any more."""
        self._reported[incarnation] = max(seq, self._reported.get(incarnation, 0))

    def forget(self, living: set[int]) -> None:
        """Delete positions of incarnations that have no data left."""
        for incarnation in set(self._acked) - living - set(self._lost):
            del self._acked[incarnation]
            self._reported.pop(incarnation, None)
            self._changed = True

    def save(self) -> None:
        """Write the changes atomically."""
        if self._changed:
            self._write(self._content())

    async def save_aside(self) -> None:
        """Save without blocking the loop: on a busy disk, renaming a file may take long."""
        if self._changed:
            await asyncio.to_thread(self._write, self._content())

    def _content(self) -> bytes:
        self._changed = False
        content = {
            "acked": {str(incarnation): seq for incarnation, seq in self._acked.items()},
            "lost": {
                str(incarnation): [_plain(lost) for lost in losses]
                for incarnation, losses in self._lost.items()
            },
            "owed": missed.plain(self.owed),
        }
        return orjson.dumps(content)

    def _write(self, content: bytes) -> None:
        draft = self._path.with_suffix(".new")
        try:
            with self._writing:
                draft.write_bytes(content)
                draft.replace(self._path)
        except OSError:
            self._changed = True
            raise

    def _put(self, incarnation: int, losses: list[DroppedBatches]) -> None:
        if losses:
            self._lost[incarnation] = sorted(losses, key=lambda lost: lost.first_seq)
        else:
            self._lost.pop(incarnation, None)

    def _read(self) -> None:
        try:
            content = orjson.loads(self._path.read_bytes())
            acked = {int(incarnation): int(seq) for incarnation, seq in content["acked"].items()}
            lost = {
                int(incarnation): [_lost(loss) for loss in losses]
                for incarnation, losses in content["lost"].items()
            }
            owed = missed.of(content.get("owed", {}))
        except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
            # Without it, the collector's own positions decide; nothing is lost.
            log.warning("spool positions unreadable", fault=type(error).__name__)
            return
        self._acked, self._lost, self.owed = acked, lost, owed


def _plain(lost: DroppedBatches) -> dict[str, Any]:
    """A loss as JSON."""
    return {
        "first_seq": lost.first_seq,
        "last_seq": lost.last_seq,
        "results": lost.results,
        "reason": lost.reason,
        **({"missed": missed.plain(lost.missed)} if lost.missed else {}),
    }


def _lost(loss: Mapping[str, Any]) -> DroppedBatches:
    return DroppedBatches(**{**loss, "missed": missed.of(loss.get("missed", {}))})
