"""DNS queries and responses: as bytes, and as zone files write them."""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final

TYPES: Final = {
    "A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "CAA": 257,
}  # fmt: skip
RCODES: Final = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
HEADER_BYTES: Final = 12

_IN: Final = 1
_OPT: Final = 41
_RECURSION: Final = 0x0100
_ANSWER: Final = 0x8000
_TRUNCATED: Final = 0x0200
# Passes every network without fragmentation (DNS flag day 2020).
_UDP_BYTES: Final = 1_232
_MOST_NAME: Final = 255
_MOST_LABEL: Final = 63
_MOST_RECORDS: Final = 1_000
_IPV4_BYTES: Final = 4
_IPV6_BYTES: Final = 16
_POINTER: Final = 0xC0
_HEADER: Final = struct.Struct("!6H")
_FIXED: Final = struct.Struct("!HHIH")
_ESCAPED: Final = b'.\\"();@$'


class MalformedMessage(ValueError):
    """The bytes are not a DNS message."""


@dataclass(frozen=True, slots=True)
class Record:
    """*data* in zone-file notation, names in lower case without their final dot."""

    name: str
    type: int
    ttl: int
    data: str


@dataclass(frozen=True, slots=True)
class DnsAnswer:
    """*rcode* is its name, or its number in words; *records*: of the answer section."""

    rcode: str
    truncated: bool
    records: tuple[Record, ...]


def question(name: str, type_: int) -> bytes:
    """The question section; *name* is ASCII. Raises ValueError for an invalid or too long name."""
    out = bytearray()
    for label in name.removesuffix(".").split("."):
        if not 0 < len(label) <= _MOST_LABEL:
            msg = f"{name!r} cannot be looked up"
            raise ValueError(msg)
        out.append(len(label))
        out += label.encode("ascii")
    if len(out) >= _MOST_NAME:
        msg = f"{name!r} is too long to be looked up"
        raise ValueError(msg)
    return bytes(out) + struct.pack("!BHH", 0, type_, _IN)


def query(id_: int, asked: bytes) -> bytes:
    """A query for *asked*, with room for a larger answer (EDNS)."""
    return (
        _HEADER.pack(id_, _RECURSION, 1, 0, 0, 1) + asked + struct.pack("!BHHIH", 0, _OPT, _UDP_BYTES, 0, 0)
    )


def answers(message: bytes, asked: bytes) -> bool:
    """Whether *message* is an answer to *asked*; the caller compares the id."""
    if len(message) < HEADER_BYTES or not message[2] & 0x80:
        return False
    if message[4:6] == b"\0\1":
        return message[HEADER_BYTES : HEADER_BYTES + len(asked)].lower() == asked.lower()
    # Some servers omit a question that they do not support.
    return message[4:6] == b"\0\0" and message[3] & 15 != 0


def read(message: bytes) -> DnsAnswer:
    """Parse an answer. Raises Malformed."""
    try:
        return _read(message)
    except (IndexError, struct.error, UnicodeError) as error:
        raise MalformedMessage(str(error)) from None


def _read(message: bytes) -> DnsAnswer:
    _, flags, questions, count, _, _ = _HEADER.unpack_from(message)
    if not flags & _ANSWER:
        raise MalformedMessage("a question")
    if count > _MOST_RECORDS:
        raise MalformedMessage("too many records")
    at = HEADER_BYTES
    for _ in range(questions):
        at = _name(message, at)[1] + 4
    rcode = RCODES.get(flags & 15, f"code {flags & 15}")
    if flags & _TRUNCATED:
        return DnsAnswer(rcode, True, ())
    records = []
    for _ in range(count):
        name, at = _name(message, at)
        type_, _, ttl, size = _FIXED.unpack_from(message, at)
        at += _FIXED.size
        if at + size > len(message):
            raise MalformedMessage("a record beyond the end")
        records.append(Record(name, type_, ttl, _data(type_, message, at, at + size)))
        at += size
    return DnsAnswer(rcode, False, tuple(records))


def _name(message: bytes, at: int) -> tuple[str, int]:
    """The name at *at*, and the offset after it."""
    labels, length, after, first = [], 0, -1, at
    while (size := message[at]) != 0:
        if size >= _POINTER:
            target = (size & ~_POINTER) << 8 | message[at + 1]
            after = at + 2 if after < 0 else after
            if target >= first:  # only backwards, or it would never end
                raise MalformedMessage("a pointer forwards")
            at = first = target
            continue
        if size > _MOST_LABEL:
            raise MalformedMessage("a label of an unknown kind")
        length += size + 1
        if length >= _MOST_NAME or at + 1 + size > len(message):
            raise MalformedMessage("a name that is too long")
        labels.append(_label(message[at + 1 : at + 1 + size]))
        at += 1 + size
    return ".".join(labels) or ".", at + 1 if after < 0 else after


def _label(raw: bytes) -> str:
    if raw.isalnum():
        return raw.decode("ascii").lower()
    return "".join(_shown(byte) for byte in raw).lower()


def _shown(byte: int) -> str:
    if byte in _ESCAPED:
        return "\\" + chr(byte)
    return chr(byte) if 0x21 <= byte <= 0x7E else f"\\{byte:03d}"


def _text(raw: bytes) -> str:
    """A quoted text: only quotes and unprintable characters are escaped."""
    return "".join(
        f"\\{chr(byte)}" if byte in b'"\\' else chr(byte) if 0x20 <= byte <= 0x7E else f"\\{byte:03d}"
        for byte in raw
    )


def _data(type_: int, message: bytes, at: int, end: int) -> str:
    say = _SAY.get(type_)
    return message[at:end].hex() if say is None else say(message, at, end)


def _a(message: bytes, at: int, end: int) -> str:
    if end - at != _IPV4_BYTES:
        raise MalformedMessage("an address of another size")
    return "%d.%d.%d.%d" % tuple(message[at:end])  # noqa: UP031 - a third of the time


def _aaaa(message: bytes, at: int, end: int) -> str:
    if end - at != _IPV6_BYTES:
        raise MalformedMessage("an address of another size")
    return str(IPv6Address(message[at:end]))


def _host(message: bytes, at: int, end: int) -> str:
    return _within(message, at, end)[0]


def _mx(message: bytes, at: int, end: int) -> str:
    return f"{_number(message, at, end)} {_within(message, at + 2, end)[0]}"


def _srv(message: bytes, at: int, end: int) -> str:
    numbers = " ".join(str(_number(message, at + 2 * place, end)) for place in range(3))
    return f"{numbers} {_within(message, at + 6, end)[0]}"


def _soa(message: bytes, at: int, end: int) -> str:
    primary, at = _within(message, at, end)
    mailbox, at = _within(message, at, end)
    if end - at < 20:
        raise MalformedMessage("a start of authority that is too short")
    return " ".join([primary, mailbox, *map(str, struct.unpack_from("!5I", message, at))])


def _txt(message: bytes, at: int, end: int) -> str:
    parts = bytearray()
    while at < end:
        size = message[at]
        if at + 1 + size > end:
            raise MalformedMessage("a text beyond its record")
        parts += message[at + 1 : at + 1 + size]
        at += 1 + size
    return _text(bytes(parts))


def _caa(message: bytes, at: int, end: int) -> str:
    value = at + 2 + message[at + 1]
    if value > end:
        raise MalformedMessage("a tag beyond its record")
    return f'{message[at]} {_text(message[at + 2 : value]).lower()} "{_text(message[value:end])}"'


def _number(message: bytes, at: int, end: int) -> int:
    if at + 2 > end:
        raise MalformedMessage("a record that is too short")
    return message[at] << 8 | message[at + 1]


def _within(message: bytes, at: int, end: int) -> tuple[str, int]:
    if at >= end:
        raise MalformedMessage("a record that is too short")
    name, after = _name(message, at)
    if after > end:
        raise MalformedMessage("a name beyond its record")
    return name, after


_SAY: Final[dict[int, Callable[[bytes, int, int], str]]] = {
    1: _a, 2: _host, 5: _host, 6: _soa, 15: _mx, 16: _txt, 28: _aaaa, 33: _srv, 257: _caa,
}  # fmt: skip
