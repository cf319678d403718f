"""An authority for tests on one side of the link only, and the files of a probe that it enrolled."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import grpc

from collector.probes.core import authority as rules
from collector.probes.core.authority import Authority, TrustedAuthorities
from probe.link import credentials as files
from probe.link.credentials import Credentials
from shared import pki
from shared.clock import utc_now
from shared.ids import uuid7

OPTIONS = (("grpc.use_local_subchannel_pool", 1),)


@dataclass(frozen=True, slots=True)
class Deployment:
    """One authority, whose collectors are on this machine."""

    authority: Authority = field(default_factory=lambda: rules.new(utc_now()))

    @property
    def trust(self) -> TrustedAuthorities:
        return TrustedAuthorities([self.authority])

    def server(self) -> grpc.ServerCredentials:
        key, certificate = rules.server_certificate(
            self.authority, ["localhost", "127.0.0.1", "::1"], utc_now()
        )
        chain = pki.pem(certificate) + pki.pem(self.authority.certificate)
        return grpc.ssl_server_credentials(
            [(pki.key_pem(key), chain)], self.trust.bundle, require_client_auth=True
        )

    def probe(self, *locations: str, probe_id: UUID | None = None) -> Credentials:
        return certified(self.trust, locations or ("local",), probe_id=probe_id)

    def enrolled(self, data_dir: Path, *locations: str) -> None:
        """Have a probe with that data directory enrolled, unless it was before."""
        home = data_dir / "probe"
        if files.load(home) is None:
            made = self.probe(*locations)
            files.own_key(home)
            (home / "key.pem").write_bytes(made.key)
            files.save(home, made)


def certified(
    trust: TrustedAuthorities,
    locations: Sequence[str] = ("eu",),
    *,
    probe_id: UUID | None = None,
    **when: Any,
) -> Credentials:
    """A probe's credentials of that authority; *now*: as if they were made then."""
    key = pki.new_key()
    now = when.get("now", utc_now())
    certificate = rules.probe_certificate(
        trust.probe_signer(now), key.public_key(), probe_id or uuid7(), locations, now
    )
    return files.made(pki.key_pem(key), pki.pem(certificate), trust.bundle)


def channel(port: int, mine: Credentials) -> grpc.aio.Channel:
    """A channel to a server of this machine."""
    trust = grpc.ssl_channel_credentials(mine.bundle, mine.key, mine.certificate)
    return grpc.aio.secure_channel(f"127.0.0.1:{port}", trust, options=OPTIONS)
