"""OTLP over gRPC: authenticates the caller before it reads a byte of the request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final, TypeAlias

import grpc
import structlog

from collector.metrics.ingest.remote_write import MAX_BODY
from collector.metrics.service import otlp_answers, series
from collector.metrics.service.series import MetricsReceiver
from collector.platform import failures, grpc_server
from shared.errors import CannotStart, TocsinError, Unauthorized, Unavailable
from shared.kinds import ReceiverType

log = structlog.get_logger()

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"

_SERVICE: Final = "opentelemetry.proto.collector.metrics.v1.MetricsService"
# What exporters send here by mistake: they would send it again if it was not refused in words.
_OTHER_SERVICES: Final = (
    "opentelemetry.proto.collector.trace.v1.TraceService",
    "opentelemetry.proto.collector.logs.v1.LogsService",
)
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MAX_BODY),
    ("grpc.max_metadata_size", 16_384),
    ("grpc.max_concurrent_streams", 100),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.enable_channelz", 0),
)
_GRACE_S: Final = 2.0
_AGAIN_S: Final = 1


class OtlpServer:
    """The OTLP/gRPC endpoint, one per collector."""

    def __init__(self, receiver: MetricsReceiver) -> None:
        self._receiver = receiver
        # Keep a reference: a garbage-collected server closes its port.
        self._server: grpc.aio.Server | None = None

    async def start(self, listen: str, *, shared_port: bool = False) -> int:
        """Listen on ``host:port``; return the port. Raises CannotStart."""
        # A unary call looks like a stream of one message; only with a stream can reading be deferred.
        export = grpc.stream_unary_rpc_method_handler(self._export)
        other = grpc.stream_unary_rpc_method_handler(_refuse)
        methods = {
            _SERVICE: {"Export": export},
            **{service: {"Export": other} for service in _OTHER_SERVICES},
        }
        server = grpc_server.make(methods, (*_OPTIONS, ("grpc.so_reuseport", int(shared_port))))
        try:
            port: int = server.add_insecure_port(listen)
        except RuntimeError as error:
            raise CannotStart(
                f"cannot listen for OTLP on {listen}: is the port taken? Set TOCSIN_OTLP_LISTEN"
            ) from error
        await server.start()
        self._server = server
        return port

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop(_GRACE_S)

    async def _export(self, requests: AsyncIterator[bytes], context: Context) -> bytes:
        try:
            state = await self._admitted(context)
            async with self._receiver.room(state) as room:
                body = await _read(requests)
                if len(body) > series.LARGE:
                    await room.widen()
                return otlp_answers.taken(await self._receiver.otlp(state, body, json=False))
        except TocsinError as error:
            await _abort(context, error)
        except Exception:
            log.exception("metrics could not be stored")
            await _abort(context, Unavailable("this cannot be done right now", _AGAIN_S))
        raise AssertionError("an abort raises")

    async def _admitted(self, context: Context) -> Any:
        sent = dict(context.invocation_metadata() or ()).get("authorization", "")
        scheme, _, token = (sent if isinstance(sent, str) else "").partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthorized("send the monitor's token: authorization: Bearer <config.authToken>")
        return await self._receiver.admit(
            series.named(token.strip()), token.strip(), ReceiverType.OPENTELEMETRY
        )


async def _refuse(_: AsyncIterator[bytes], context: Context) -> bytes:
    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "only metrics are taken")
    raise AssertionError("an abort raises")


async def _read(requests: AsyncIterator[bytes]) -> bytes:
    """The single message of a call. Raises Unavailable if it does not arrive."""
    try:
        async with asyncio.timeout(series.READ_S):
            return await anext(aiter(requests), b"")
    except TimeoutError:
        raise Unavailable(f"the request did not come within {series.READ_S:g} s", _AGAIN_S) from None


async def _abort(context: Context, error: TocsinError) -> None:
    """End the call; the retry delay is set in both places where exporters look for it."""
    code, again = failures.failure(error).code, failures.retry_after(error)
    message = otlp_answers.reason(error)
    trailers: list[tuple[str, bytes]] = [
        ("grpc-status-details-bin", otlp_answers.status(code.value[0], message, again))
    ]
    if again is not None:
        trailers.append(("google.rpc.retryinfo-bin", otlp_answers.retry_info(again)))
    await context.abort(code, message, tuple(trailers))
