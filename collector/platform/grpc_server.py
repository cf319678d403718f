"""A gRPC server that no call can end.

The library decodes the path of each call to a method that was not registered, and its server shuts down for
good if that fails: one request with a byte that is not UTF-8 would be the end of the port.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import grpc
import structlog
from grpc._cython import cygrpc

log = structlog.get_logger()

Handlers = Mapping[str, Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]]

# Where the library's server asks for the next call; not public, so that another version may lack it.
_HOOK: Final = "_make_request_call_future"


class _Guarded(cygrpc.AioServer):  # type: ignore[misc] # without types
    """Drops calls to unknown methods before their path is decoded; the caller sees them cancelled."""

    def _make_request_call_future(self, method: bytes | None) -> "asyncio.Future[Any]":
        if method is None:
            return asyncio.create_task(self._drop_unknown())
        future: asyncio.Future[Any] = super()._make_request_call_future(method)
        return future

    async def _drop_unknown(self) -> None:
        """Go on until the server stops, when the library raises its own error."""
        while True:
            await self._request_call()


def make(handlers: Handlers, options: Sequence[tuple[str, Any]]) -> grpc.aio.Server:
    """A server of these methods by service and name, which does not listen yet."""
    if not hasattr(cygrpc.AioServer, _HOOK):
        log.warning("this version of grpcio lets a malformed path end a port; install the locked one")
        return _with_handlers(grpc.aio.server(options=options), handlers)
    plain = cygrpc.AioServer
    cygrpc.AioServer = _Guarded  # the library has no way to choose it
    try:
        server = grpc.aio.server(options=options)
    finally:
        cygrpc.AioServer = plain
    return _with_handlers(server, handlers)


def _with_handlers(server: grpc.aio.Server, handlers: Handlers) -> grpc.aio.Server:
    for service, methods in handlers.items():
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, dict(methods)),))
        server.add_registered_method_handlers(service, dict(methods))
    return server
