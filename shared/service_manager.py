"""Reports readiness and life to the service manager, in systemd's notification protocol."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import structlog

log = structlog.get_logger()

# A beat that comes late once must not end the process: three fit into the limit.
_BEATS_WITHIN_THE_LIMIT: Final = 3
_US: Final = 1_000_000


class ServiceManager:
    """The manager that *environment* names; without one, nothing is sent.

    NOTIFY_SOCKET is the path of its datagram socket, ``@`` for an abstract one; WATCHDOG_USEC the
    microseconds without a beat after which it ends this process. WATCHDOG_PID is ignored: the workers of a
    service beat for their parent, and the watchdog of each worker ends that worker alone.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        limit = environment.get("WATCHDOG_USEC", "")
        limit_us = int(limit) if limit.isascii() and limit.isdigit() else 0
        self._beat_s = limit_us / _US / _BEATS_WITHIN_THE_LIMIT if self._address else 0.0
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Report that the service works, beat, and report at the end that it stops. Needs a running loop."""
        self._send("READY=1")
        if self._beat_s:
            self._beat()
        try:
            yield
        finally:
            if self._timer is not None:
                self._timer.cancel()
            self._send("STOPPING=1")

    def _beat(self) -> None:
        self._send("WATCHDOG=1")
        self._timer = asyncio.get_running_loop().call_later(self._beat_s, self._beat)

    def _send(self, state: str) -> None:
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
                # A manager that does not read must not stall the loop.
                sock.setblocking(False)
                sock.sendto(state.encode(), self._address)
        except OSError as error:
            log.warning("service manager not notified", state=state, reason=str(error))
