"""Parses an HTTP/1.1 response incrementally, as far as a check needs it, within bounds."""

import re
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from probe.net.bodies import Body
from probe.net.errors import TargetError

MOST_HEADER_BYTES: Final = 65_536
# How much of the raw beginning is kept as evidence of a failed check.
_KEPT_BYTES: Final = 8_192
_SWITCHING: Final = 101
_FINAL: Final = 200
_BODILESS: Final = (204, 304)
# The parser also accepts RTSP and ICE.
_STARTS: Final = b"H\r\n"
_NOT_HTTP: Final = "http: not an HTTP response"

# The head of most responses: well-formed, and not to be continued, or read in another way, after it.
_USUAL_HEAD: Final = re.compile(
    rb"HTTP/1\.[01] ([2-9][0-9][0-9]) [^\r\n]*+\r\n"
    rb"(?:[A-Za-z0-9!#$%&'*+.^_`|~-]++:[^\x00-\x08\n-\x1f\x7f]*+\r\n)*+\r\n"
)
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*+([0-9]{1,9})\r\n")
_UNUSUAL: Final = re.compile(rb"\r\n(?:location|transfer-encoding|upgrade):")


class HttpReply:
    """Status, Location and size of a response; reads at most *most* bytes of the body.

    A *body* keeps what is read, decompressed; *headers* collects the response's headers.
    """

    __slots__ = (
        "_bodiless", "_body", "_chunked", "_done", "_head", "_in_body", "_length", "_most", "_packed",
        "_parser", "_room", "code", "headers", "location", "phase", "size", "start",
    )  # fmt: skip

    def __init__(
        self,
        *,
        head: bool,
        most: int,
        body: Body | None = None,
        headers: list[tuple[bytes, bytes]] | None = None,
    ) -> None:
        self.code = 0
        self.headers = headers
        self.location: bytes | None = None
        self.size = 0
        self.start: list[bytes] = []  # the first raw bytes
        self._room = _KEPT_BYTES
        self.phase = "first byte"
        self._bodiless = head or most == 0
        self._most = most
        self._body = body
        self._packed = b""
        self._head = 0
        self._in_body = False
        self._done = False
        self._length: int | None = None
        self._chunked = False
        self._parser: HttpResponseParser | None = None

    @property
    def text(self) -> bytes:
        """The body, as far as it was kept."""
        return b"" if self._body is None else bytes(self._body.data)

    def feed(self, data: bytes) -> bool:
        if self._room > 0:
            self.start.append(data)
            self._room -= len(data)
        parser = self._parser
        if parser is None:
            if self._is_usual(data):
                return True
            parser = self._begin(data)
        before = self.size
        try:
            parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            # After the end of the response, anything may follow: the connection is not reused.
            if not self._done:
                raise self._malformed() from None
        if not self._done and self.size == before:
            self._head += len(data)
            if self._head > MOST_HEADER_BYTES:
                raise TargetError(f"{self.phase}: more than {MOST_HEADER_BYTES // 1024} KiB of headers")
        if self._done:
            self._parser = None  # which references this object: breaking the cycle frees it at once
            self._finish_body()
        return self._done

    def end(self, peer: str) -> None:
        if self.phase == "first byte":
            raise TargetError(f"first byte: connection closed by {peer} without an answer")
        if not self._in_body:
            raise TargetError(f"headers: connection closed by {peer} before their end")
        if self._chunked:
            raise TargetError("body: connection closed before the last chunk")
        if self._length is not None:
            raise TargetError(f"body: connection closed after {self.size} of {self._length} bytes")
        self._parser = None
        self._finish_body()

    def _is_usual(self, data: bytes) -> bool:
        """Read *data* if it is a whole response like most; that takes a fifth of the parser's time."""
        if self.headers is not None or self._body is not None:
            return False
        head = _USUAL_HEAD.match(data)
        if head is None:
            return False
        names = data[: head.end()].lower()
        length = _LENGTH.search(names)
        if length is None or names.count(b"\r\ncontent-length:") > 1 or _UNUSUAL.search(names):
            return False
        code, size = int(head[1]), int(length[1])
        if self._bodiless or code in _BODILESS:
            size = 0
        came = min(len(data) - head.end(), size)
        if came < min(size, self._most):
            return False
        self.code, self.size, self.phase, self._done = code, came, "body", True
        return True

    def _begin(self, data: bytes) -> HttpResponseParser:
        """A parser for a response that starts with *data*. Raises TargetError if that is none."""
        self.phase = "headers"
        if data[0] not in _STARTS:
            raise TargetError(_NOT_HTTP)
        parser = self._parser = HttpResponseParser(self)
        # Errors that browsers tolerate are no failure: strictness protects pipelines, which are not used.
        parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        return parser

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer, or a header of another response after this one
        if self.headers is not None:
            self.headers.append((name, value))
        match name.lower():
            case b"location":
                self.location = value
            case b"content-length":
                self._length = int(value) if value.isdigit() else None
            case b"transfer-encoding":
                self._chunked = value.lower().rstrip().endswith(b"chunked")
            case b"content-encoding":
                self._packed = value

    def on_headers_complete(self) -> None:
        if self._done:
            return
        code = self._status()
        if code < _FINAL and code != _SWITCHING:
            if self.headers:
                self.headers.clear()
            return
        self.code = code
        self._in_body = True
        self.phase = "body"
        self._done = self._bodiless or self.code in _BODILESS or self.code == _SWITCHING
        if self._body is not None and not self._done:
            self._body.begin(self._packed.decode("latin-1"))

    def on_body(self, body: bytes) -> None:
        if self._done:
            return
        self.size += len(body)
        enough = self._body is not None and self._body.feed(body)
        if enough or self.size >= self._most:
            self._done = True

    def on_message_complete(self) -> None:
        if self._in_body:
            self._done = True

    def _finish_body(self) -> None:
        if self._body is None:
            return
        if self.size < self._most:
            self._body.end()
        if self._body.fault:
            raise TargetError(f"body: {self._body.fault}")

    def _status(self) -> int:
        return 0 if self._parser is None else int(self._parser.get_status_code())

    def _malformed(self) -> TargetError:
        if self.phase == "body":
            return TargetError("body: malformed chunk")
        if self._status():
            return TargetError("headers: malformed")
        return TargetError(_NOT_HTTP)
