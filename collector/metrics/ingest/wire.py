"""Reads protobuf by hand where a message may declare more than is worth allocating."""

from collections.abc import Iterator
from typing import Final

from shared.errors import Invalid

MAX_PARTS: Final = 200_000


def parts(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a message, by number. Raises Invalid."""
    at, end, left = 0, len(raw), MAX_PARTS
    try:
        while at < end and left:
            left -= 1
            tag = raw[at]
            if tag & 0x87 != 2:
                at = _skipped(raw, at)
                continue
            start = at + 2
            length = raw[at + 1]
            if length & 0x80:
                length, start = varint(raw, at + 1)
            at = start + length
            if at > end:
                break
            yield tag >> 3, raw[start:at]
    except IndexError:
        at = end + 1
    if at > end:
        raise Invalid({"body": "must be a protobuf message of this kind"})
    if at < end:
        raise Invalid({"body": f"has more than {MAX_PARTS} parts"})


def _skipped(raw: bytes, at: int) -> int:
    """The end of a field to skip: a number, or a field with a multi-byte tag."""
    tag, at = varint(raw, at)
    if not tag >> 3:
        raise IndexError
    match tag & 7:
        case 0:
            return varint(raw, at)[1]
        case 1:
            return at + 8
        case 2:
            length, at = varint(raw, at)
            return at + length
        case 5:
            return at + 4
    raise IndexError


def varint_length(number: int) -> int:
    return max(1, (number.bit_length() + 6) // 7)


def varint(raw: bytes, at: int) -> tuple[int, int]:
    """A varint and its end. Raises IndexError if there is none."""
    number = shift = 0
    while shift < 70:
        byte = raw[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise IndexError
