"""Checks that a caller waits for: sent to the session's probe, answered to the caller."""

import base64
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
import structlog

from collector.monitors.service import runs
from collector.platform import signals
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.probes.sessions.hello import BadMessage
from collector.probes.sessions.plan import assignment
from collector.probes.sessions.queue import Outbox
from collector.probes.storage import plans
from collector.web3.service.nodes import NONE, Nodes, filled
from shared.findings import bounded
from shared.phases import MAX_BYTES
from shared.results import Run, Status
from shared.wire import convert
from shared.wire.convert import MAX_TEXT
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()

_HEARD_WITHIN = timedelta(seconds=30)
_MAX_ASKED = 1000


class RemoteRuns:
    """Runs on this probe; answers to unknown runs are dropped, so no probe can answer for another."""

    def __init__(
        self,
        db: Db,
        signals_: signals.Signals,
        keyring: Keyring,
        outbox: Outbox,
        probe_id: UUID,
        nodes: Nodes = NONE,
    ) -> None:
        self._db = db
        self._signals = signals_
        self._keyring = keyring
        self._outbox = outbox
        self._probe_id = probe_id
        self._nodes = nodes
        self._asked: dict[int, None] = {}

    async def ask(self, payload: dict[str, Any]) -> None:
        """Send the run in a `run` signal to the probe, if there is room."""
        check = self._test(payload) if payload["run"] == Run.TEST else await self._planned(payload)
        if check is None:
            return
        run = probe_pb2.Run(id=payload["id"], run=payload["run"], within_ms=payload["withinMs"], check=check)
        if not self._outbox.offer(probe_pb2.ToProbe(run=run)):
            log.warning("run not sent: the probe does not read", probe=str(self._probe_id), run=payload["id"])
        elif payload["run"] == Run.TEST:
            self._asked[payload["id"]] = None
            if len(self._asked) > _MAX_ASKED:
                del self._asked[next(iter(self._asked))]

    async def answered(self, answer: probe_pb2.Answer) -> None:
        """Forward a result to the collector that waits for it."""
        if answer.id not in self._asked:
            return
        if answer.outcome not in set(Status) or answer.code >= 2**15 or len(answer.phases) > MAX_BYTES:
            raise BadMessage("answer out of range")
        findings = _findings(answer.found)
        del self._asked[answer.id]
        payload = {
            "id": answer.id,
            "status": answer.outcome,
            "code": answer.code,
            "error": answer.error.replace("\0", "")[:MAX_TEXT],
            "phases": answer.phases.hex(),
            "durationUs": answer.duration_us,
            **({"found": findings} if findings else {}),
        }
        async with self._db.transaction() as tx:
            await signals.send(tx, "answer", payload, _HEARD_WITHIN)
        self._signals.ring()

    def _test(self, payload: dict[str, Any]) -> probe_pb2.Assignment:
        sealed = base64.b64decode(payload["sealed"])
        place = runs.place(payload["teamId"], payload["id"])
        config = orjson.loads(self._keyring.open(sealed, place))
        return probe_pb2.Assignment(
            type=payload["type"],
            config=orjson.dumps(filled(payload["type"], config, self._nodes)),
            timeout_ms=payload["withinMs"],
            team=payload["teamId"],
        )

    async def _planned(self, payload: dict[str, Any]) -> probe_pb2.Assignment | None:
        """The probe's current assignment for the run; None if it no longer has it."""
        async with self._db.connection() as tx:
            mine = await plans.of_monitors(tx, self._probe_id, [payload["monitor"]])
        for planned in mine:
            if planned.location == payload["location"]:
                return assignment(planned, self._keyring, self._nodes, at_once=False)
        return None


def _findings(sent: probe_pb2.Findings) -> list[tuple[int, str, str]]:
    """The results of the check, as a signal carries them. Raises BadMessage."""
    try:
        findings = convert.decode_findings(sent)
    except convert.BadBatch as error:
        raise BadMessage(str(error)) from error
    if not bounded(findings):
        raise BadMessage("findings out of bounds")
    return [
        (int(finding.found), finding.key, finding.data.decode("utf-8", "replace").replace("\0", ""))
        for finding in findings
    ]
