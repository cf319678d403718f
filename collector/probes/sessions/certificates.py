"""Certificates of the probe link: the gRPC service of enrolment, and the collector's own TLS credentials."""

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Any

import grpc
import structlog
from cryptography import x509

from collector.platform import failures
from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.probes.core import authority as rules
from collector.probes.core.authority import TrustedAuthorities
from collector.probes.service import authority, enrolment
from collector.probes.service.enrolment import Issued
from collector.probes.sessions.hello import BadMessage
from collector.probes.sessions.messages import readable
from collector.probes.sessions.refusals import Refusals
from shared import pki
from shared.certificates import Passport
from shared.clock import EPOCH, UtcClock, iso
from shared.errors import TocsinError, Unauthorized, Unavailable
from shared.wire.v1 import probe_pb2

log = structlog.get_logger()


class ServerCredentials:
    """Keeps server certificate and trust fresh: `turn` renews both. *names*: our hosts and addresses."""

    def __init__(self, db: Db, keyring: Keyring, *, names: Sequence[str], now: UtcClock) -> None:
        self._db = db
        self._keyring = keyring
        self._names = names
        self._now = now
        self._trust: TrustedAuthorities | None = None
        self._renew_at = EPOCH
        self._config: Any = None
        self._given: Any = None

    @property
    def trust(self) -> TrustedAuthorities:
        if self._trust is None:
            raise Unavailable("the authority is not loaded yet")
        return self._trust

    async def turn(self) -> bool:
        now = self._now()
        trust = await authority.trust(self._db, self._keyring, now)
        if self._trust is None or trust.bundle != self._trust.bundle or now >= self._renew_at:
            self._config = self._made(trust, now)
            self._renew_at = now + rules.SERVER_LIFE / 2
            self._trust = trust
        return False

    def server(self) -> grpc.ServerCredentials:
        """Server credentials that require a client certificate; call `turn` before."""
        self._given = self._config
        return grpc.dynamic_ssl_server_credentials(
            self._config, self._newer, require_client_authentication=True
        )

    def passport(self, context: Any) -> Passport:
        """The peer's identity. Raises Unauthorized for newcomers and certificates that we did not sign."""
        shown = context.auth_context().get("x509_pem_cert")
        if not shown:
            raise Unauthorized("this connection has no certificate")
        certificate = x509.load_pem_x509_certificate(shown[0])
        # TLS also accepts the newcomer certificate and everything that its key signed: the check is here.
        if not self.trust.signed(certificate):
            raise Unauthorized("a certificate of this deployment is needed; join with a token")
        try:
            passport = pki.passport(certificate)
        except (ValueError, x509.ExtensionNotFound):
            raise Unauthorized("this is no probe's certificate") from None
        if passport.not_after <= self._now():
            raise Unauthorized(f"this certificate expired at {iso(passport.not_after)}")
        return passport

    def _made(self, trust: TrustedAuthorities, now: datetime) -> Any:
        key, certificate = rules.server_certificate(trust.server_signer, self._names, now)
        # Send the authority, too: a newcomer knows only its fingerprint.
        chain = pki.pem(certificate) + pki.pem(trust.server_signer.certificate)
        return grpc.ssl_server_certificate_configuration(
            [(pki.key_pem(key), chain)], trust.bundle + pki.NEWCOMER
        )

    def _newer(self) -> Any:
        """Called by gRPC's threads at each handshake: a new configuration, or None for the same."""
        if self._given is self._config:
            return None
        self._given = self._config
        return self._given


class Enrolment:
    """The gRPC service of enrolment, one per collector, on the port of the sessions."""

    def __init__(self, db: Db, credentials: ServerCredentials, now: UtcClock) -> None:
        self._db = db
        self._credentials = credentials
        self._now = now
        self._refusals = Refusals()

    async def enrol(
        self, request: probe_pb2.EnrolRequest | BadMessage, context: Any
    ) -> probe_pb2.Credentials:
        """Enrol a probe; anyone with a join token may call it."""
        return await self._answer(self._enrol(request), context, "enrolled")

    async def renew(
        self, request: probe_pb2.RenewRequest | BadMessage, context: Any
    ) -> probe_pb2.Credentials:
        """Renew the certificate with which the connection was made."""
        return await self._answer(self._renew(request, context), context, "certificate renewed")

    async def _enrol(self, received: probe_pb2.EnrolRequest | BadMessage) -> Issued:
        request = readable(received)
        return await enrolment.enrol(
            self._db,
            self._credentials.trust,
            secret=request.secret,
            csr=request.csr,
            name=request.name,
            locations=list(request.locations),
            now=self._now(),
        )

    async def _renew(self, received: probe_pb2.RenewRequest | BadMessage, context: Any) -> Issued:
        request = readable(received)
        probe_id = self._credentials.passport(context).probe_id
        return await enrolment.renew(
            self._db, self._credentials.trust, probe_id=probe_id, csr=request.csr, now=self._now()
        )

    async def _answer(self, issued: Awaitable[Issued], context: Any, action: str) -> probe_pb2.Credentials:
        """Answer with what was *issued*; *action*: the words of the log. Aborts the call on our errors."""
        try:
            credentials = await issued
        except TocsinError as error:
            peer, reason = context.peer(), str(error)
            if calls := self._refusals.calls(peer.rpartition(":")[0], reason):
                log.warning("certificate request refused", peer=peer, reason=reason, calls=calls)
            unreadable = isinstance(error, BadMessage)
            code = failures.failure(error, failures.PASSING).code
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT if unreadable else code, reason)
        log.info(action, probe=str(credentials.probe_id), peer=context.peer())
        return probe_pb2.Credentials(certificate=credentials.certificate, bundle=credentials.bundle)
