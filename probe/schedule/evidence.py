"""Evidence of a failed check: what was connected to and answered."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from probe.net.bodies import Body
from probe.net.endpoint import show
from probe.net.http1 import HttpReply
from probe.net.spent import PhaseDurations
from shared.evidence import Evidence, redacted

# Twice the reported size, so that a secret at the cut is found as a whole.
_MOST_BODY: Final = 2_048
# In each streak, evidence is reported for the first failures, and for the one that confirms it.
_FIRST: Final = 3


def of_connection(spent: PhaseDurations) -> Evidence:
    """Where a check connected that has no other evidence."""
    return Evidence(show(spent.address, spent.port) if spent.address else "")


def of_reply(spent: PhaseDurations, reply: HttpReply | None, secrets: Sequence[str]) -> Evidence:
    """The beginning of *reply*, without *secrets*."""
    seen = _EvidenceParser()
    if reply is not None:
        seen.read(b"".join(reply.start))
    headers = tuple((_text(name), _text(value)) for name, value in seen.headers)
    return redacted(Evidence(of_connection(spent).address, headers, _text(seen.body)), secrets, whole=False)


def worth_telling(fails: int, threshold: int) -> bool:
    """Whether the *fails*-th consecutive failure is among those that a confirmation relies on."""
    return 0 < fails <= _FIRST or fails == threshold


class _EvidenceParser:
    """Parses the start of a response again, regardless of how it ends."""

    __slots__ = ("_body", "_final", "_packed", "_parser", "body", "headers")

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self._body = Body(_MOST_BODY)
        self._packed = ""
        self._final = False
        self._parser = HttpResponseParser(self)

    def read(self, start: bytes) -> None:
        """Parse it; if it is not HTTP, the body is the raw bytes."""
        with suppress(HttpParserError, HttpParserUpgrade):
            self._parser.feed_data(start)
        self.body = bytes(self._body.data) if self._final else start
        del self._parser  # which references this object

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._final:
            return
        self.headers.append((name, value))
        if name.lower() == b"content-encoding":
            self._packed = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        if self._final:
            return
        code = self._parser.get_status_code()
        if 100 <= code < 200 and code != 101:
            self.headers.clear()
            return
        self._final = True
        self._body.begin(self._packed)

    def on_body(self, body: bytes) -> None:
        if self._final and not self._body.full and not self._body.fault:
            self._body.feed(body)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
