"""Gathers results into columns and seals them into batches."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol

from probe.checks._check import Missed
from probe.clock import wall_us as clock_wall_us
from probe.link.plan import ProbeAssignment
from probe.schedule.certificate_ends import days_left
from probe.schedule.runner import CheckRun
from probe.spool.missed import settle
from shared.clock import MicrosecondClock, boot_id
from shared.clock import boot_us as clock_boot_us
from shared.evidence import Evidence
from shared.findings import Finding, bounded
from shared.phases import pack
from shared.results import Outcome, Run
from shared.wire.convert import MAX_STATE, MAX_TEXT, Batch, decode, encode, signed

MAX_RESULTS: Final = 1000
# A message has a fixed cost for the collector; this keeps it well below gRPC's size limit.
MAX_BYTES: Final = 1024 * 1024
_RESULT_BYTES: Final = 48
# Urgent results and the first ones are sent at once, with those that end at about the same time; others wait
# for more.
URGENT_S: Final = 0.01
LINGER_S: Final = 0.5


class StoreBatch(Protocol):
    """Stores sealed batches."""

    def __call__(self, incarnation: int, seq: int, results: int, data: bytes) -> None: ...


class Batcher:
    """Numbers batches from 1 without gaps, within its own incarnation."""

    def __init__(
        self,
        keep: StoreBatch,
        *,
        boot_us: MicrosecondClock = clock_boot_us,
        wall_us: MicrosecondClock = clock_wall_us,
    ) -> None:
        self._keep = keep
        self._boot_us = boot_us
        self._wall_us = wall_us
        self._open = _OpenBatch()
        self._timer: asyncio.TimerHandle | None = None
        self._hurried = False
        self.incarnation = _new_incarnation()
        self.seq = 0
        self.owed: dict[int, Missed] = {}  # by assignment, what its check must read again

    def add(self, assigned: ProbeAssignment, run: Run, ran: CheckRun, *, urgent: bool) -> None:
        """Add a result; its batch is sealed soon."""
        self._open.add(assigned, run, ran)
        if self.owed and carried(ran.outcome):
            settle(self.owed, assigned.number, assigned.kept, ran.outcome)
        urgent = urgent or bool(ran.outcome.found) or self.seq == 0
        if len(self._open.results) >= MAX_RESULTS or self._open.bytes >= MAX_BYTES:
            self.seal()
        elif self._timer is None or (urgent and not self._hurried):
            self._set_timer(urgent)

    def seal(self) -> None:
        """Seal the open batch, unless it is empty."""
        self._cancel_timer()
        full, self._open = self._open, _OpenBatch()
        if not full.results:
            return
        self.seq += 1
        wall_us = self._wall_us() - (self._boot_us() - full.base_us)
        data = encode(full.batch(self.incarnation, self.seq, wall_us))
        self._keep(self.incarnation, self.seq, len(full.results), data)

    def renew(self) -> None:
        """Continue with a new incarnation, from batch 1."""
        self.seal()
        self.incarnation = _new_incarnation()
        self.seq = 0

    def repeat(self, data: bytes) -> None:
        """Store a sealed batch again, under the current incarnation."""
        self.seal()
        self.seq += 1
        batch = replace(decode(data), incarnation=self.incarnation, first_seq=self.seq, seq=self.seq)
        self._keep(self.incarnation, self.seq, len(batch.monitor), encode(batch))

    def _set_timer(self, urgent: bool) -> None:
        self._cancel_timer()
        self._hurried = urgent
        delay = URGENT_S if urgent else LINGER_S
        self._timer = asyncio.get_running_loop().call_later(delay, self.seal)

    def _cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer, self._hurried = None, False


class _OpenBatch:
    """An open batch: the results, each with the index of its error; converted to columns when sealed."""

    __slots__ = ("bytes", "errors", "evidence", "found", "results", "state")

    def __init__(self) -> None:
        self.bytes = 0
        self.results: list[tuple[ProbeAssignment, Run, CheckRun, int]] = []
        self.errors: dict[str, int] = {}
        self.state: dict[int, bytes] = {}
        self.evidence: dict[int, Evidence] = {}
        self.found: dict[int, Sequence[Finding]] = {}

    def add(self, assigned: ProbeAssignment, run: Run, ran: CheckRun) -> None:
        outcome = ran.outcome
        if outcome.state is not None or outcome.found:
            self._add_state(outcome)
        if outcome.evidence is not None:
            seen = self.evidence[len(self.results)] = outcome.evidence()
            self.bytes += seen.size
        error = self._error(outcome.error) if outcome.error else 0
        self.results.append((assigned, run, ran, error))
        self.bytes += _RESULT_BYTES

    def _add_state(self, outcome: Outcome) -> None:
        """Add state and findings of the next result, unless too large: then the check reads them again."""
        if not carried(outcome):
            return
        if outcome.state is not None:
            self.state[len(self.results)] = outcome.state
            self.bytes += len(outcome.state)
        if outcome.found:
            self.found[len(self.results)] = outcome.found
            self.bytes += sum(len(finding.key) + len(finding.data) for finding in outcome.found)

    def _error(self, text: str) -> int:
        """1 + the index of *text* among the errors, each of which is stored once."""
        text = clean(text)
        number = self.errors.setdefault(text, len(self.errors) + 1)
        if number == len(self.errors):
            self.bytes += len(text)
        return number

    @property
    def base_us(self) -> int:
        return self.results[0][2].start_us

    def batch(self, incarnation: int, seq: int, wall_us: int) -> Batch:
        assigned, runs, rans, errors = zip(*self.results, strict=True)
        outcomes = [ran.outcome for ran in rans]
        base_us = self.base_us
        return Batch(
            incarnation=incarnation,
            first_seq=seq,
            seq=seq,
            boot_id=boot_id(),
            base_us=base_us,
            wall_us=wall_us,
            monitor=[item.monitor for item in assigned],
            location=[item.location for item in assigned],
            assignment=[item.number for item in assigned],
            revision=[item.revision for item in assigned],
            run=runs,
            start_us=[ran.start_us - base_us for ran in rans],
            duration_us=[ran.duration_us for ran in rans],
            outcome=[outcome.status for outcome in outcomes],
            code=[outcome.code for outcome in outcomes],
            phases=[
                pack(outcome.phases) if outcome.ends is None else _with_days(ran, wall_us - base_us)
                for ran, outcome in zip(rans, outcomes, strict=True)
            ],
            error=errors,
            errors=list(self.errors),
            state=self.state,
            evidence=self.evidence,
            found=self.found,
        )


def carried(outcome: Outcome) -> bool:
    """Whether the findings and the state of *outcome* fit into a batch: both, or neither."""
    small = outcome.state is None or len(outcome.state) <= MAX_STATE
    return small and (not outcome.found or bounded(outcome.found))


def clean(text: str) -> str:
    """*text* as the wire and PostgreSQL accept it: valid UTF-8 without NUL, truncated."""
    return text[:MAX_TEXT].replace("\0", "?").encode("utf-8", "replace").decode()


def _with_days(ran: CheckRun, since_boot_us: int) -> bytes:
    """Phases, and days until the certificate expires; *since_boot_us*: wall clock minus boot clock."""
    return pack(ran.outcome.phases, days_left(ran.outcome, (since_boot_us + ran.start_us) / 1e6))


def _new_incarnation() -> int:
    return signed(secrets.randbits(64))
