"""The gRPC channel to a collector, and the meaning of its refusals."""

import re
from dataclasses import dataclass
from typing import Final

import grpc

from shared.setting_table import address

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
# Both sides may be just starting: before this it is nothing to be told of that nobody answers.
QUIET_S: Final = 15.0
_OF_GRPC: Final = re.compile(r".*last error: (?:[A-Z_]+: )?(?:ipv[46]:\S+: )?", re.DOTALL)
_WRONG_NAME: Final = "Hostname Verification Check failed"
_STRANGER: Final = "CERTIFICATE_VERIFY_FAILED"


@dataclass(frozen=True, slots=True)
class Keepalive:
    """A collector that says nothing for so long is asked, and given up when it does not answer in time."""

    ask_after_ms: int = 6_000
    answer_within_ms: int = 5_000


KEEPALIVE: Final = Keepalive()


def words(collector: str, details: str) -> str:
    """What gRPC says of *collector* that cannot be reached, and what to do about it if that is known."""
    if _WRONG_NAME in details:
        host, _ = address(collector)
        return f"its certificate does not name {host}; set TOCSIN_GRPC_NAMES at the collector"
    if _STRANGER in details:
        return "its certificate is not of the deployment that this probe belongs to"
    return _OF_GRPC.sub("", details)


def is_misplaced(details: str) -> bool:
    """Does it answer, but as somebody else? Then it is no matter of time."""
    return _WRONG_NAME in details or _STRANGER in details


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
