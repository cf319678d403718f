"""Parses and validates a probe's hello message. The certificate, not the hello, identifies the probe."""

import re
from collections.abc import Iterable
from urllib.parse import unquote
from uuid import UUID

from collector.probes.storage.probes import ProbeDescription
from shared.errors import TocsinError
from shared.wire.convert import signed
from shared.wire.v1 import probe_pb2

PROTOCOL = 1

_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_MOST = 1000
_MAX_TEXT = 200


class BadMessage(TocsinError):
    """A probe sent an invalid message."""


class WrongProtocol(TocsinError):
    """A probe speaks an unsupported protocol version."""


def read(hello: probe_pb2.Hello, probe_id: UUID, peer: str) -> ProbeDescription:
    """Parse the hello. Raises WrongProtocol and BadMessage."""
    if hello.protocol != PROTOCOL:
        raise WrongProtocol(f"this collector speaks protocol {PROTOCOL}, the probe {hello.protocol}")
    _demand(bool(hello.locations) or hello.stands_in, "no location")
    _demand(all(_SLUG.fullmatch(name) for name in hello.locations), "locations must be slugs")
    _demand(bool(hello.boot_id), "no boot_id")
    _demand(_texts((hello.version, hello.boot_id, *hello.kinds)), "a text that is too long")
    lists = (hello.locations, hello.kinds, hello.spooled, hello.stopped)
    _demand(max(map(len, lists)) <= _MOST, "too much of something")
    _demand(
        all(max(revision.monitor, revision.revision) < 2**31 for revision in hello.stopped),
        "no such revision",
    )
    return ProbeDescription(
        probe_id=probe_id,
        locations=list(dict.fromkeys(hello.locations)),
        kinds=list(dict.fromkeys(hello.kinds)),
        stands_in=hello.stands_in,
        version=hello.version,
        boot_id=hello.boot_id,
        address=unquote(peer),
        incarnations=_incarnations(hello),
        stopped=[(revision.monitor, revision.revision) for revision in hello.stopped],
    )


def _incarnations(hello: probe_pb2.Hello) -> list[int]:
    """Each incarnation once, the process's own, which is the youngest, last."""
    own = signed(hello.incarnation)
    older = dict.fromkeys(signed(spooled.incarnation) for spooled in hello.spooled)
    return [*(incarnation for incarnation in older if incarnation != own), own]


def _texts(texts: Iterable[str]) -> bool:
    return all(len(text) <= _MAX_TEXT and "\0" not in text for text in texts)


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise BadMessage(f"hello: {fault}")
