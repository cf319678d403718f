"""Name resolution for both programs by c-ares, which reads the hosts file; failures are not cached."""

import asyncio
import socket
import time
from collections.abc import Sequence
from typing import Final

import aiodns
import pycares

_APART_S: Final = 1.0


class ForgetfulResolver(aiodns.DNSResolver):
    """A resolver that retries missing names. Needs a running loop.

    c-ares caches "no such name" as long as the zone says, up to an hour: a recovery would go unseen, and
    every retry would fail. Its cache is emptied after a failure, at most once a second.
    """

    def __init__(
        self, nameservers: Sequence[str] = (), *, timeout_s: float | None = None, tries: int | None = None
    ) -> None:
        super().__init__(nameservers or None, timeout=timeout_s, tries=tries)
        self._emptied_at = float("-inf")
        self._emptying: asyncio.TimerHandle | None = None

    def getaddrinfo(
        self,
        host: str,
        family: socket.AddressFamily = socket.AF_UNSPEC,
        port: int | None = None,
        proto: int = 0,
        type: int = 0,  # noqa: A002 - the name that callers of aiodns use
        flags: int = 0,
    ) -> asyncio.Future[pycares.AddrInfoResult]:
        answer = super().getaddrinfo(host, family, port, proto, type, flags)
        answer.add_done_callback(self._heard)
        return answer

    async def texts(self, name: str) -> list[str]:
        """The values of the TXT records of *name*. Raises aiodns.error.DNSError."""
        asked = self.query_dns(name, "TXT")
        asked.add_done_callback(self._heard)
        found = [record.data for record in (await asked).answer]
        return [
            data.data.decode("utf-8", "replace") for data in found if isinstance(data, pycares.TXTRecordData)
        ]

    def cancel(self) -> None:
        if self._emptying is not None:
            self._emptying.cancel()
            self._emptying = None
        super().cancel()

    async def close(self) -> None:
        """Idempotent."""
        if not self._closed:
            self.cancel()
        await super().close()

    def _heard(
        self, answer: "asyncio.Future[pycares.AddrInfoResult] | asyncio.Future[pycares.DNSResult]"
    ) -> None:
        if answer.cancelled() or not _failed(answer.exception()) or self._emptying is not None:
            return
        wait_s = self._emptied_at + _APART_S - time.monotonic()
        if wait_s <= 0:
            self._empty()
        else:
            self._emptying = self.loop.call_later(wait_s, self._empty)

    def _empty(self) -> None:
        self._emptying = None
        if not self._closed:
            self._emptied_at = time.monotonic()
            self._channel.reinit()


def _failed(error: BaseException | None) -> bool:
    """Whether a lookup failed; a cancelled one does not count."""
    return error is not None and error.args[:1] != (pycares.errno.ARES_ECANCELLED,)
