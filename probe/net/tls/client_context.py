"""A client certificate for OpenSSL, without writing its key to disk."""

import os
import ssl
from collections.abc import Callable
from typing import Final

from shared.client_certificate import ClientCertificate

_MOST_KEPT: Final = 500


class Clients:
    """A context for each client certificate; OpenSSL always verifies the server, as such checks are few."""

    __slots__ = ("_contexts",)

    def __init__(self) -> None:
        self._contexts: dict[tuple[ClientCertificate, str], ssl.SSLContext] = {}

    def context(self, client: ClientCertificate, make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
        """A context of *make* that presents *client*. Raises ssl.SSLError for a mismatched pair."""
        key = client, make.__name__
        context = self._contexts.pop(key, None)
        if context is None:
            context = make()
            _load(context, client)
        if len(self._contexts) >= _MOST_KEPT:
            del self._contexts[next(iter(self._contexts))]
        self._contexts[key] = context
        return context


def _load(context: ssl.SSLContext, client: ClientCertificate) -> None:
    """OpenSSL reads only files; this one is in memory."""
    fd = os.memfd_create("client", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(fd), "wb") as file:
            file.write(f"{client.key.strip()}\n{client.chain.strip()}\n".encode())
        context.load_cert_chain(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
