"""Enrols the probe with a join token, and renews its certificate."""

import asyncio
import itertools
import platform
import ssl
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import grpc
import structlog

from probe.link import credentials as files
from probe.link.connection import LASTING, QUIET_S, channel, is_misplaced, words
from probe.link.credentials import Credentials
from shared import certificates, join_tokens, trust
from shared.backoff import full_jitter
from shared.clock import UtcClock, iso
from shared.errors import BadSettings, CannotStart
from shared.setting_table import address
from shared.wire.v1 import probe_pb2, probe_pb2_grpc

log = structlog.get_logger()

_ANSWER_S: Final = 10.0
_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 5.0
_HINT: Final = "TOCSIN_JOIN_TOKEN gives it one (tocsin probe-token create)"


class Refused(Exception):
    """The collector refuses a certificate, and retries are useless."""


class CredentialKeeper:
    """Holds the probe's credentials after `begin`; `turn` renews them in time."""

    def __init__(
        self,
        home: Path,
        collectors: Sequence[str],
        *,
        token: str | None,
        locations: Sequence[str],
        now: UtcClock,
    ) -> None:
        """*locations*: of the probe; empty: those of the certificate."""
        self._home = home
        self._collectors = collectors
        self._token = token
        self._locations = locations
        self._now = now
        self._failing_since = 0.0
        self._current: Credentials | None = None
        self._complaint = ""
        self._failures = 0  # consecutive failures

    @property
    def current(self) -> Credentials:
        assert self._current is not None  # noqa: S101 - only used after `begin`
        return self._current

    async def begin(self) -> None:
        """Load the stored certificate, or join with the token. Raises BadSettings and CannotStart."""
        kept = self._current = files.load(self._home)
        lacking = lack(kept, self._locations, self._now())
        usable = kept if lacking is None else None
        if usable and (self._token is None or _trusted(usable, self._token)):
            return
        if self._token is None:
            assert lacking is not None  # noqa: S101 - else the certificate would be usable
            raise lacking
        try:
            await self._join(self._token)
        except Refused as error:
            if not usable:
                raise CannotStart(f"this probe cannot join: {error}") from error
            log.warning("join token unusable; continuing with the certificate", reason=str(error))

    async def turn(self) -> bool:
        """Renew the certificate after two thirds of its life; after expiry, join with the token again."""
        now = self._now()
        if not self.current.due(now):
            return False
        try:
            if not self.current.over(now):
                await self._renew()
            elif self._token is not None:
                await self._join(self._token)
        except Refused as error:
            self._complain(str(error))
        return False

    async def _join(self, token: str) -> None:
        """Join through the first collector that answers."""
        from shared import pki  # noqa: PLC0415 - 9 MB that a probe with a certificate does not need

        key = files.own_key(self._home)
        asked = probe_pb2.EnrolRequest(
            secret=join_tokens.read(token).secret,
            csr=pki.request(pki.read_key(key)),
            name=platform.node()[:100],
            locations=self._locations,
        )
        waits = full_jitter(_FIRST_WAIT_S, _LONGEST_WAIT_S)
        for collector in itertools.cycle(self._collectors):
            try:
                bundle = await _authority(collector, join_tokens.read(token).fingerprint)
                await self._ask(collector, bundle, pki.newcomer_key(), pki.NEWCOMER, "Enrol", asked)
            except (OSError, TimeoutError, grpc.aio.AioRpcError) as error:
                self._complain(f"{collector}: {_words(collector, error)}", early=_may_pass(error))
                await asyncio.sleep(next(waits))
            else:
                log.info("joined", probe=str(self.current.passport.probe_id), collector=collector)
                return

    async def _renew(self) -> None:
        from shared import pki  # noqa: PLC0415 - see `_join`

        have = self.current
        asked = probe_pb2.RenewRequest(csr=pki.request(pki.read_key(have.key)))
        for collector in self._collectors:
            try:
                await self._ask(collector, have.bundle, have.key, have.certificate, "Renew", asked)
            except (TimeoutError, grpc.aio.AioRpcError) as error:
                self._complain(f"{collector}: {_words(collector, error)}")
            else:
                log.info("certificate renewed", until=iso(self.current.passport.not_after))
                return

    async def _ask(
        self, collector: str, bundle: bytes, key: bytes, certificate: bytes, call: str, asked: Any
    ) -> None:
        """Make the call and store the collector's response. Raises Refused."""
        async with channel(collector, bundle=bundle, key=key, certificate=certificate) as link:
            stub = probe_pb2_grpc.EnrolmentStub(link)  # type: ignore[no-untyped-call]
            try:
                answer = await getattr(stub, call)(asked, timeout=_ANSWER_S)
            except grpc.aio.AioRpcError as error:
                if error.code() in LASTING:
                    raise Refused(error.details() or error.code().name) from error
                raise
        try:
            got = files.made(files.own_key(self._home), answer.certificate, answer.bundle)
        except ValueError as error:
            raise Refused(f"the collector's answer cannot be used: {error}") from error
        files.save(self._home, got)
        self._current = got
        self._complaint, self._failures = "", 0

    def _complain(self, complaint: str, *, early: bool = False) -> None:
        """Log a changed complaint, after a delay; *early*: both sides may still be starting."""
        self._failures += 1
        if self._failures == 1:
            self._failing_since = time.monotonic()
        quiet = self._failures == 1 or (early and time.monotonic() - self._failing_since < QUIET_S)
        if quiet:
            log.debug("no certificate yet", reason=complaint)
        elif complaint != self._complaint:
            log.warning("certificate request refused", reason=complaint)
            self._complaint = complaint


def lack(
    kept: Credentials | None, locations: Sequence[str], now: datetime
) -> BadSettings | CannotStart | None:
    """Why a probe at *locations* (empty: anywhere) needs a join token; None if it does not."""
    if kept is None:
        return CannotStart(f"this probe has no certificate yet; {_HINT}")
    if locations and set(kept.passport.locations) != set(locations):
        there = ", ".join(kept.passport.locations)
        return BadSettings(f"TOCSIN_LOCATION: the certificate of this probe is for {there}")
    if kept.over(now):
        return CannotStart(
            f"the certificate of this probe expired at {iso(kept.passport.not_after)}; {_HINT}"
        )
    return None


def _trusted(kept: Credentials, token: str) -> bool:
    """Whether the token belongs to the same deployment as the certificate."""
    return join_tokens.read(token).fingerprint in certificates.fingerprints(kept.bundle)


async def _authority(collector: str, fingerprint: bytes) -> bytes:
    """The certificate (PEM) with that fingerprint, from the server's chain. Raises Refused.

    Nothing is sent to the server, and only the fingerprint is trusted.
    """
    context = trust.alike(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    host, port = address(collector)
    async with asyncio.timeout(_ANSWER_S):
        _, writer = await asyncio.open_connection(host, port, ssl=context)
    chain = writer.get_extra_info("ssl_object")._sslobj.get_unverified_chain()  # noqa: SLF001 - public from 3.13 on only
    writer.transport.abort()
    for each in chain or []:
        text: str = each.public_bytes()
        if certificates.fingerprint(ssl.PEM_cert_to_DER_cert(text)) == fingerprint:
            return text.encode()
    raise Refused(f"{collector} is not of the deployment that made the join token, or somebody is in between")


def _may_pass(error: Exception) -> bool:
    return not (isinstance(error, grpc.aio.AioRpcError) and is_misplaced(error.details() or ""))


def _words(collector: str, error: Exception) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return words(collector, error.details() or "") or str(error.code().name)
    return str(error) or type(error).__name__
