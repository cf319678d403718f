"""The collector's TLS credentials towards probes: its certificate and the authorities it trusts."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import grpc
from cryptography import x509

from collector.platform.seal import Keyring
from collector.platform.storage.db import Db
from collector.probes.core import authority as rules
from collector.probes.core.authority import Trust
from collector.probes.service import authority
from shared import pki
from shared.certificates import Passport
from shared.clock import EPOCH, iso
from shared.errors import Unauthorized, Unavailable


class Credentials:
    """Keeps server certificate and trust fresh: `turn` renews both. *names*: our hosts and addresses."""

    def __init__(
        self, db: Db, keyring: Keyring, *, names: Sequence[str], now: Callable[[], datetime]
    ) -> None:
        self._db = db
        self._keyring = keyring
        self._names = names
        self._now = now
        self._trust: Trust | None = None
        self._renew_at = EPOCH
        self._config: Any = None
        self._given: Any = None

    @property
    def trust(self) -> Trust:
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
            found = pki.passport(certificate)
        except (ValueError, x509.ExtensionNotFound):
            raise Unauthorized("this is no probe's certificate") from None
        if found.not_after <= self._now():
            raise Unauthorized(f"this certificate expired at {iso(found.not_after)}")
        return found

    def _made(self, trust: Trust, now: datetime) -> Any:
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
