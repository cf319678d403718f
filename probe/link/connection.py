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
    # Each attempt gets its own channel, which is not delayed by earlier failures.
    ("grpc.use_local_subchannel_pool", 1),
)

# Errors that retries cannot fix: somebody has to act.
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
# Those among them that concern the probe's own identity: every collector would reject it.
FINAL: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED})
# Both sides may be starting: before this time, an unreachable collector is not reported.
QUIET_S: Final = 15.0
_OF_GRPC: Final = re.compile(r".*last error: (?:[A-Z_]+: )?(?:ipv[46]:\S+: )?", re.DOTALL)
_WRONG_NAME: Final = "Hostname Verification Check failed"
_STRANGER: Final = "CERTIFICATE_VERIFY_FAILED"


@dataclass(frozen=True, slots=True)
class Keepalive:
    """Times after which a silent collector is pinged, and given up if it does not answer."""

    ask_after_ms: int = 6_000
    answer_within_ms: int = 5_000


KEEPALIVE: Final = Keepalive()


def words(collector: str, details: str) -> str:
    """The gRPC error for an unreachable *collector*, with advice if there is any."""
    if _WRONG_NAME in details:
        host, _ = address(collector)
        return f"its certificate does not name {host}; set TOCSIN_GRPC_NAMES at the collector"
    if _STRANGER in details:
        return "its certificate is not of the deployment that this probe belongs to"
    return _OF_GRPC.sub("", details)


def is_misplaced(details: str) -> bool:
    """Whether it answers under another identity; then waiting does not help."""
    return _WRONG_NAME in details or _STRANGER in details


def channel(
    collector: str, *, bundle: bytes, key: bytes, certificate: bytes, keepalive: Keepalive = KEEPALIVE
) -> grpc.aio.Channel:
    """An unconnected mTLS channel to ``host:port``; all PEM, *bundle*: trusted authorities."""
    alive = (
        ("grpc.keepalive_time_ms", keepalive.ask_after_ms),
        ("grpc.keepalive_timeout_ms", keepalive.answer_within_ms),
        # gRPC sends no keepalive ping while another ping is in flight, such as a bandwidth probe.
        ("grpc.http2.ping_timeout_ms", keepalive.answer_within_ms),
    )
    trust = grpc.ssl_channel_credentials(bundle, key, certificate)
    return grpc.aio.secure_channel(collector, trust, options=(*_OPTIONS, *alive))
