"""Does a gRPC server say that it serves (grpc.health.v1)?"""

import re
import time
from typing import TYPE_CHECKING, Final

from probe.checks._check import Check
from probe.net.endpoint import Endpoint, show
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.spent import Limit, PhaseDurations
from probe.net.tls.starttls import shown
from shared.kinds.grpc import Grpc
from shared.results import Outcome, Status

if TYPE_CHECKING:
    import grpc

_METHOD: Final = "/grpc.health.v1.Health/Check"
_SERVING: Final = 1
_STATES: Final = {0: "UNKNOWN", 2: "NOT_SERVING", 3: "SERVICE_UNKNOWN"}
_MOST_BYTES: Final = 65_536
# The library's prefix of the actual reason.
_AROUND: Final = re.compile(r"^failed to connect to all addresses; last error: [A-Z_]+: ipv[46]:\S+: ")


def prepare(kind: Grpc) -> Check:
    to = Endpoint.of(kind.host, kind.port, tls=kind.tls)
    service = kind.service.encode()
    question = b"\x0a" + _varint(len(service)) + service if service else b""

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = PhaseDurations(), Limit.until(deadline)
        # Connect ourselves first: for our own error texts, and for the address policy.
        await net.converse(to, spent, limit)
        try:
            state = await _ask(net, to, spent, limit, question)
        except TargetError as error:
            error.spent = spent
            raise
        if state == _SERVING:
            return Outcome(Status.UP, phases=spent.phases(), address=spent.address, ends=spent.ends)
        text = _STATES.get(state, str(state))
        return Outcome(
            Status.DOWN, 0, f"grpc: {text}", spent.phases(), address=spent.address, ends=spent.ends
        )

    return check


async def _ask(net: Net, to: Endpoint, spent: PhaseDurations, limit: Limit, question: bytes) -> int:
    """The status in the response, a number of the protocol."""
    import grpc  # noqa: PLC0415 - 8 MB not needed before connecting

    began = time.monotonic()
    left = max(limit.deadline - began, 0.001)
    options = [
        # The time limit of a connection, which stays open although nobody waits for it any more.
        ("grpc.min_reconnect_backoff_ms", int(left * 1_000) + 1),
        ("grpc.default_authority", show(to.host, to.port)),
        ("grpc.enable_http_proxy", 0),
        ("grpc.enable_retries", 0),
        ("grpc.max_receive_message_length", _MOST_BYTES),
        ("grpc.use_local_subchannel_pool", 1),
    ]
    family = "ipv6" if ":" in spent.address else "ipv4"
    target = f"{family}:{show(spent.address, to.port)}"
    if to.tls:
        named = [*options, ("grpc.ssl_target_name_override", to.host)]
        channel = grpc.aio.secure_channel(
            target, grpc.ssl_channel_credentials(net.trust.authorities()), options=named
        )
    else:
        channel = grpc.aio.insecure_channel(target, options=options)
    try:
        answer: bytes = await channel.unary_unary(_METHOD)(question, timeout=left)
    except grpc.aio.AioRpcError as error:
        raise TargetError(_words(error, limit)) from None
    finally:
        await channel.close()
    spent.first_byte = time.monotonic() - began
    return _status(answer)


def _words(error: "grpc.aio.AioRpcError", limit: Limit) -> str:
    name = error.code().name
    match name:
        case "DEADLINE_EXCEEDED":
            return f"grpc: no answer within {limit.words}"
        case "UNIMPLEMENTED":
            return "grpc: the server has no health service"
        case "NOT_FOUND":
            return "grpc: the server does not know this service"
    return f"grpc: {name} {shown(_AROUND.sub('', error.details() or '').encode())}"


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _status(answer: bytes) -> int:
    """The value of field 1, the only one; 0 if it is omitted."""
    if not answer:
        return 0
    if len(answer) != 2 or answer[0] != 8:
        raise TargetError("grpc: malformed answer")
    return answer[1]
