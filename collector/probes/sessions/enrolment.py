"""The gRPC service of enrolment: a join token or a certificate in, a certificate out."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import structlog

from collector.platform import failures
from collector.platform.storage.db import Db
from collector.probes.service import enrolment
from collector.probes.service.enrolment import Issued
from collector.probes.sessions.credentials import Credentials
from collector.probes.sessions.refused import Refusals
from shared.errors import TocsinError
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()


class Enrolment:
    """The enrolment service, one per collector, on the port of the sessions."""

    def __init__(self, db: Db, credentials: Credentials, now: Callable[[], datetime]) -> None:
        self._db = db
        self._credentials = credentials
        self._now = now
        self._refusals = Refusals()

    async def Enrol(  # noqa: N802 - the name in the .proto
        self, asked: probe_pb2.EnrolRequest, context: Any
    ) -> probe_pb2.Credentials:
        """Enrol a probe; anyone with a join token may call it."""

        async def enrol() -> Issued:
            return await enrolment.enrol(
                self._db,
                self._credentials.trust,
                secret=asked.secret,
                csr=asked.csr,
                name=asked.name,
                locations=list(asked.locations),
                now=self._now(),
            )

        return await self._answer(enrol, context, "enrolled")

    async def Renew(  # noqa: N802 - the name in the .proto
        self, asked: probe_pb2.RenewRequest, context: Any
    ) -> probe_pb2.Credentials:
        """Renew the certificate with which the connection was made."""

        async def renew() -> Issued:
            probe_id = self._credentials.passport(context).probe_id
            return await enrolment.renew(
                self._db, self._credentials.trust, probe_id=probe_id, csr=asked.csr, now=self._now()
            )

        return await self._answer(renew, context, "certificate renewed")

    async def _answer(
        self, deed: Callable[[], Awaitable[Issued]], context: Any, done: str
    ) -> probe_pb2.Credentials:
        try:
            issued = await deed()
        except TocsinError as error:
            peer, reason = context.peer(), str(error)
            if calls := self._refusals.calls(peer.rpartition(":")[0], reason):
                log.warning("certificate request refused", peer=peer, reason=reason, calls=calls)
            await context.abort(failures.failure(error, failures.PASSING).code, reason)
        log.info(done, probe=str(issued.probe_id), peer=context.peer())
        return probe_pb2.Credentials(certificate=issued.certificate, bundle=issued.bundle)
