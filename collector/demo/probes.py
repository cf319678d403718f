"""The probes of the demonstration: they report results that nobody measured, and send nothing out."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from collector.demo.core.fleet import LOCATIONS
from collector.demo.storage import BOOT, AssignedCheck
from collector.evaluation.ingest.probe_batches import Submission
from collector.platform.storage.db import Db, Tx
from collector.probes.service import sessions
from collector.probes.storage import enrolments, probes
from collector.probes.storage.enrolments import Enrolled
from collector.probes.storage.probes import ProbeDescription, ProbeSignal
from shared import __version__
from shared.clock import EPOCH
from shared.evidence import Evidence
from shared.findings import Finding
from shared.ids import uuid7
from shared.kinds import KINDS
from shared.phases import pack
from shared.results import Phases, Run, Status
from shared.wire.convert import Batch

_US: Final = timedelta(microseconds=1)
# Shares of the response time.
_PHASES: Final = (("dns_us", 40), ("connect_us", 160), ("tls_us", 240), ("first_byte_us", 480))
_OVER_TLS: Final = frozenset({"http", "websocket", "tls"})
_SEEN: Final = Evidence("192.0.2.14:443", (("Server", "shop"), ("Retry-After", "30")), "upstream is busy")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One result to report; *error* is empty for a good check. *state*: the check's checkpoint."""

    check: AssignedCheck
    at: datetime
    ms: int
    error: str = ""
    found: Sequence[Finding] = ()
    state: bytes | None = None


@dataclass(slots=True)
class DemoProbe:
    """A probe with its session, and the number of its last batch."""

    id: UUID
    place: str
    session: int = 0
    incarnation: int = field(default_factory=lambda: secrets.randbits(40))
    seq: int = 0


async def enrol(db: Db, team_id: int, now: datetime) -> list[DemoProbe]:
    """Enrol a probe for each location."""
    made = [DemoProbe(uuid7(), place) for place in LOCATIONS]
    async with db.transaction() as tx:
        for probe in made:
            row = Enrolled(probe.id, team_id, [probe.place], secrets.token_bytes(32), None)
            await enrolments.put(tx, row, name=f"{probe.place}-1", may_stand_in=False, now=now)
    return made


async def connect(db: Db, probe: DemoProbe, now: datetime) -> None:
    """Begin a session of the probe."""
    hello = ProbeDescription(
        probe.id,
        [probe.place],
        sorted(KINDS),
        stands_in=False,
        version=__version__,
        boot_id=BOOT,
        address="192.0.2.1",
        incarnations=[probe.incarnation],
    )
    probe.session = (await sessions.accept(db, hello, now)).session


async def alive(tx: Tx, living: Sequence[DemoProbe], now: datetime) -> None:
    """Record that these probes were heard."""
    vitals = {"blind": False, "checks": 100, "late": 0}
    await probes.note(tx, [ProbeSignal(probe.id, probe.session, now, vitals) for probe in living])


def submission(probe: DemoProbe, reports: Sequence[CheckReport]) -> Submission:
    """The next batch of *probe*, with these results in their order."""
    probe.seq += 1
    batch = replace(
        batch_of(reports, probe.seq),
        incarnation=probe.incarnation,
        boot_id=BOOT,
        state={at: report.state for at, report in enumerate(reports) if report.state is not None},
        evidence={at: _SEEN for at, report in enumerate(reports) if report.error.startswith("HTTP")},
        found={at: report.found for at, report in enumerate(reports) if report.found},
    )
    return Submission(probe.session, probe.id, batch, offset_us=0)


def batch_of(reports: Sequence[CheckReport], seq: int) -> Batch:
    """The reports as a batch of nobody, to be stored as history."""
    texts = list(dict.fromkeys(report.error for report in reports if report.error))
    numbers = {text: 1 + at for at, text in enumerate(texts)}
    count = len(reports)
    return Batch(
        0,
        seq,
        seq,
        boot_id="",
        base_us=0,
        wall_us=0,
        monitor=[report.check.monitor for report in reports],
        location=[report.check.location for report in reports],
        assignment=[report.check.assignment or 0 for report in reports],
        revision=[report.check.revision for report in reports],
        run=[int(Run.SCHEDULED)] * count,
        start_us=[(report.at - EPOCH) // _US for report in reports],
        duration_us=[report.ms * 1000 for report in reports],
        outcome=[int(Status.DOWN if report.error else Status.UP) for report in reports],
        code=[_code(report) for report in reports],
        phases=[b"" if report.error else _phases(report) for report in reports],
        error=[numbers.get(report.error, 0) for report in reports],
        errors=texts,
    )


def _code(report: CheckReport) -> int:
    if report.check.type != "http":
        return 0
    if not report.error:
        return 200
    return int(report.error[5:8]) if report.error.startswith("HTTP ") else 0


def _phases(report: CheckReport) -> bytes:
    """The parts of the response time; a certificate has 60 days or so left."""
    if report.check.probe_id is None:
        return b""
    us = {name: report.ms * share for name, share in _PHASES}
    if report.check.type not in _OVER_TLS:
        return pack(Phases(dns_us=us["dns_us"], connect_us=report.ms * 960))
    return pack(Phases(**us), 20 + report.check.monitor % 67)
