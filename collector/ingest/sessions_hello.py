"""The first word of a session: read, checked, and the one place that says whose it is."""

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import unquote
from uuid import UUID

import grpc

from collector.storage.probes import Newcomer
from shared.errors import TocsinError, Unauthorized
from shared.wire.convert import signed
from shared.wire.v1 import probe_pb2

PROTOCOL = 1

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_MOST = 1000
_MAX_TEXT = 200


class BadMessage(TocsinError):
    """A probe sent something that cannot be meant."""


class WrongProtocol(TocsinError):
    """A probe speaks a protocol that this collector does not."""


def identify(
    context: "grpc.aio.ServicerContext[probe_pb2.FromProbe, probe_pb2.ToProbe]", claimed: bytes
) -> UUID:
    """Whose session this is. Until probes have certificates: whoever the peer says, on this machine only."""
    if not _is_loopback(context.peer()):
        raise Unauthorized("without a certificate a probe may connect from the collector's own machine only")
    if len(claimed) != 16:
        raise BadMessage("hello: probe_id must be 16 bytes")
    return UUID(bytes=claimed)


def read(hello: probe_pb2.Hello, probe_id: UUID, peer: str) -> Newcomer:
    """The hello as a value. Raises WrongProtocol and BadMessage."""
    if hello.protocol != PROTOCOL:
        raise WrongProtocol(f"this collector speaks protocol {PROTOCOL}, the probe {hello.protocol}")
    _demand(bool(hello.locations) or hello.stands_in, "no location")
    _demand(all(_SLUG.fullmatch(name) for name in hello.locations), "locations must be slugs")
    _demand(bool(hello.boot_id), "no boot_id")
    _demand(_texts((hello.name, hello.version, hello.boot_id, *hello.kinds)), "a text that is too long")
    _demand(max(len(hello.locations), len(hello.kinds), len(hello.spooled)) <= _MOST, "too much of something")
    return Newcomer(
        probe_id=probe_id,
        name=hello.name,
        locations=list(dict.fromkeys(hello.locations)),
        kinds=list(dict.fromkeys(hello.kinds)),
        stands_in=hello.stands_in,
        version=hello.version,
        boot_id=hello.boot_id,
        address=unquote(peer),
        incarnations=_incarnations(hello),
    )


def _incarnations(hello: probe_pb2.Hello) -> list[int]:
    """Each once, the process's own last: it is the youngest."""
    own = signed(hello.incarnation)
    older = dict.fromkeys(signed(spooled.incarnation) for spooled in hello.spooled)
    return [*(incarnation for incarnation in older if incarnation != own), own]


def _texts(texts: Iterable[str]) -> bool:
    return all(len(text) <= _MAX_TEXT and "\0" not in text for text in texts)


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise BadMessage(f"hello: {fault}")


def _is_loopback(peer: str) -> bool:
    """``ipv4:127.0.0.1:4711``, ``ipv6:%5B::1%5D:4711``, ``unix:...``."""
    family, _, rest = unquote(peer).partition(":")
    if family == "unix":
        return True
    try:
        return ipaddress.ip_address(rest.rpartition(":")[0].strip("[]")).is_loopback
    except ValueError:
        return False
