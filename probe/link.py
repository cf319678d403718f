"""The way to a collector: a channel that may be trusted, and what a refusal means."""

from typing import Final

import grpc

_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 64 * 1024 * 1024),
    ("grpc.enable_retries", 0),
    ("grpc.enable_http_proxy", 0),
    # A channel of its own for each try, which no earlier failure makes wait.
    ("grpc.use_local_subchannel_pool", 1),
)

# What will not go away by trying again: somebody has to do something about it.
LASTING: Final = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.ALREADY_EXISTS,
        grpc.StatusCode.UNIMPLEMENTED,
    }
)


def channel(collector: str, *, bundle: bytes, key: bytes, certificate: bytes) -> grpc.aio.Channel:
    """A channel over mTLS to ``host:port``, not connected yet; all PEM, *bundle* is whom to trust there."""
    trust = grpc.ssl_channel_credentials(bundle, key, certificate)
    return grpc.aio.secure_channel(collector, trust, options=_OPTIONS)
