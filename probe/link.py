"""The way to a collector: a channel that may be trusted, and what a refusal means."""

from dataclasses import dataclass
from typing import Final

import grpc

_OPTIONS: Final = (
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
# Of these, what the probe's own identity meets: it is out, whichever collector is asked.
FINAL: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})


@dataclass(frozen=True, slots=True)
class Keepalive:
    """A collector that says nothing for so long is asked, and given up when it does not answer in time."""

    ask_after_ms: int = 6_000
    answer_within_ms: int = 5_000


KEEPALIVE: Final = Keepalive()


def channel(
    collector: str, *, bundle: bytes, key: bytes, certificate: bytes, keepalive: Keepalive = KEEPALIVE
) -> grpc.aio.Channel:
    """A channel over mTLS to ``host:port``, not connected yet; all PEM, *bundle* is whom to trust there."""
    alive = (
        ("grpc.keepalive_time_ms", keepalive.ask_after_ms),
        ("grpc.keepalive_timeout_ms", keepalive.answer_within_ms),
        # While another ping is out, one that measures the bandwidth for instance, none is sent to keep alive.
        ("grpc.http2.ping_timeout_ms", keepalive.answer_within_ms),
    )
    trust = grpc.ssl_channel_credentials(bundle, key, certificate)
    return grpc.aio.secure_channel(collector, trust, options=(*_OPTIONS, *alive))
