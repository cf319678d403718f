"""What senders of remote write send, made by hand: bodies of both versions."""

import struct
from collections.abc import Mapping

import cramjam

from shared.wire.prometheus.remote_pb2 import Label, TimeSeries, TimeSeriesV2

STALE = struct.unpack("<d", struct.pack("<q", 0x7FF0000000000002))[0]
FIRST = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
SECOND = {**FIRST, "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request"}

Point = tuple[Mapping[str, str], int, float]


def pack(raw: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(raw))


def part(number: int, raw: bytes) -> bytes:
    """A field with a length."""
    return bytes([number << 3 | 2]) + varint(len(raw)) + raw


def varint(number: int) -> bytes:
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def series(labels: Mapping[str, str], *samples: tuple[int, float]) -> TimeSeries:
    time_series = TimeSeries(labels=[Label(name=name, value=value) for name, value in labels.items()])
    for at_ms, value in samples:
        time_series.samples.add(timestamp=at_ms, value=value)
    return time_series


def first(*points: Point) -> bytes:
    """A body of 1.0, packed."""
    parts = [series(labels, (at_ms, value)).SerializeToString() for labels, at_ms, value in points]
    return pack(b"".join(part(1, one) for one in parts))


def second(*points: Point) -> bytes:
    """A body of 2.0, packed."""
    symbols: dict[str, int] = {"": 0}
    parts = []
    for labels, at_ms, value in points:
        refs = [symbols.setdefault(text, len(symbols)) for pair in labels.items() for text in pair]
        v2 = TimeSeriesV2(labels_refs=refs)
        v2.samples.add(timestamp=at_ms, value=value)
        parts.append(v2.SerializeToString())
    return pack(b"".join([*(part(4, text.encode()) for text in symbols), *(part(5, one) for one in parts)]))


def named(name: str, **labels: str) -> Mapping[str, str]:
    return {"__name__": name, **labels}
