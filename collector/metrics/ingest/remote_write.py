"""Prometheus remote write 1.0 and 2.0: decompresses and decodes a body into a monitor's buffer."""

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import cramjam
from google.protobuf.message import DecodeError

from collector.metrics.core.series import MAX_LABELS, TOO_MANY, BadSeries, SeriesState
from collector.metrics.ingest.series import SeriesPush
from collector.metrics.ingest.wire import parts, varint
from shared.errors import BodyTooLarge, Invalid
from shared.wire.prometheus.remote_pb2 import TimeSeries, TimeSeriesV2

MAX_BODY: Final = 16 << 20
_NOT_PACKED: Final = {"body": "must be packed with snappy (block format)"}
# Limits of one series: bytes of its labels and samples, and number of samples.
MAX_SERIES_BYTES: Final = 1 << 20
MAX_SAMPLES: Final = 100_000
# After this many series, other tasks may run.
_AT_ONCE: Final = 500

_STALE: Final = 0x7FF0000000000002
_DOUBLE: Final = struct.Struct("<d")
_BITS: Final = struct.Struct("<q")
_TIMESERIES, _SYMBOLS, _TIMESERIES_V2 = 1, 4, 5
_UNKNOWN: Final = object()
# Start of a sample with a non-zero value and a time of this century: its tag and its length.
_FULL: Final = b"\x12\x10"


def unpacked_size(body: bytes) -> int:
    """The size declared in a snappy block. Raises BodyTooLarge, Invalid."""
    try:
        declared, _ = varint(body, 0)
    except IndexError:
        raise Invalid(_NOT_PACKED) from None
    if declared > MAX_BODY:
        raise BodyTooLarge(MAX_BODY)
    return declared


def unpack(body: bytes) -> bytes:
    """Unpack a body whose size was checked. Raises Invalid."""
    try:
        return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError:
        raise Invalid(_NOT_PACKED) from None


async def take_v1(raw: bytes, taking: SeriesPush) -> None:
    """Store a WriteRequest of 1.0. Raises Invalid; series before an error are stored by then."""
    known, taken = taking.state.known, taking.taken
    read, read_bits, sample = _DOUBLE.unpack_from, _BITS.unpack_from, taking.sample
    stamps: dict[bytes, int] = {}
    async for part in _series(raw, _TIMESERIES):
        # Fast path: known labels followed by a single sample need no parsing. All else is parsed completely.
        state: Any = known.get(part[:-18], _UNKNOWN)
        if state is not _UNKNOWN and part[-18:-16] == _FULL:
            if state is None:
                taken.samples += 1
                continue
            at_ms = stamps.get(part[-6:])
            if at_ms is None:
                at_ms = stamps[part[-6:]] = _stamp(part)
            if at_ms >= 0 and part[-16] == 0x09 and part[-7] == 0x10:
                taken.samples += 1
                value = read(part, len(part) - 15)[0]
                stale = value != value and read_bits(part, len(part) - 15)[0] == _STALE  # noqa: PLR0124 - NaN?
                sample(state, at_ms, value, stale=stale)
                continue
        _take_whole(part, taking)


async def take_v2(raw: bytes, taking: SeriesPush) -> None:
    """Store a Request of 2.0. Raises Invalid; series before an error are stored by then."""
    try:
        symbols = [part.decode() for number, part in parts(raw) if number == _SYMBOLS]
    except UnicodeDecodeError:
        raise Invalid({"body": "has a symbol that is not UTF-8"}) from None
    if symbols[:1] not in ([], [""]):
        raise Invalid({"body": "must have the empty text as its first symbol"})
    async for part in _series(raw, _TIMESERIES_V2):
        message = _parsed(TimeSeriesV2, part)
        refs = message.labels_refs
        texts = _texts(refs, symbols)
        state = texts if isinstance(texts, str) else _state_of(texts, len(refs) // 2, taking)
        _points(message, state, taking)


async def _series(raw: bytes, wanted: int) -> AsyncIterator[bytes]:
    """The series in a body; other tasks may run in between."""
    count = 0
    for number, part in parts(raw):
        if number == wanted:
            yield part
            count += 1
            if not count % _AT_ONCE:
                await asyncio.sleep(0)


def _stamp(part: bytes) -> int:
    """The time at the end of a sample if it has six bytes, as in this century; else -1."""
    number, end = varint(part, len(part) - 6) if not part[-1] & 0x80 else (0, 0)
    return number if end == len(part) else -1


def _take_whole(part: bytes, taking: SeriesPush) -> None:
    """Parse a series completely, and remember the bytes of its labels if they all come first."""
    message = _parsed(TimeSeries, part)
    count = len(message.labels)
    if count > MAX_LABELS:
        _points(message, TOO_MANY, taking)
        return
    form, heading = _head(part)
    state: Any = taking.state.known.get(form, _UNKNOWN) if heading == count else _UNKNOWN
    if state is _UNKNOWN:
        state = _state_of({label.name: label.value for label in message.labels}, count, taking)
        if not isinstance(state, str) and heading == count:
            taking.state.remember(form, state)
    _points(message, state, taking)


def _points(message: Any, state: SeriesState | str | None, taking: SeriesPush) -> None:
    """Store a series' samples; *state*: its state, None if it does not match, or an error text."""
    taken, samples, histograms = taking.taken, message.samples, message.histograms
    if taken.samples + taken.histograms + len(samples) + len(histograms) > MAX_SAMPLES:
        raise Invalid({"body": f"must not have more than {MAX_SAMPLES} samples"})
    if isinstance(state, str):
        taken.refuse(state, len(samples) + len(histograms))
        return
    taken.samples += len(samples)
    taken.histograms += len(histograms)
    if state is None:
        return
    for sample in samples:
        taking.sample(state, sample.timestamp, sample.value, stale=_is_stale(sample.value))
    for one_of in histograms:
        floating = one_of.WhichOneof("count") == "count_float"
        count = one_of.count_float if floating else float(one_of.count_int)
        taking.sample(state, one_of.timestamp, count, stale=_is_stale(one_of.sum))


def _texts(refs: Sequence[int], symbols: Sequence[str]) -> dict[str, str] | str:
    """The labels that *refs* reference, or an error text."""
    if len(refs) % 2 or len(refs) > 2 * MAX_LABELS:
        return "a label of a series has no value" if len(refs) % 2 else TOO_MANY
    if max(refs, default=0) >= len(symbols):
        return "a label of a series is none of the symbols"
    texts = [symbols[ref] for ref in refs]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def _state_of(labels: dict[str, str], count: int, taking: SeriesPush) -> SeriesState | str | None:
    try:
        return taking.state.find(labels, count=count)
    except BadSeries as error:
        return str(error)


def _is_stale(value: float) -> bool:
    return value != value and _BITS.unpack(_DOUBLE.pack(value))[0] == _STALE  # noqa: PLR0124 - is it NaN?


def _parsed(cls: Any, part: bytes) -> Any:
    if len(part) > MAX_SERIES_BYTES:
        raise Invalid({"body": f"has a series of more than {MAX_SERIES_BYTES >> 20} MiB"})
    try:
        return cls.FromString(part)
    except DecodeError:
        raise Invalid({"body": "has a series that cannot be read"}) from None


def _head(part: bytes) -> tuple[bytes, int]:
    """The bytes of the labels at the start of a series, and their number."""
    at, end, count = 0, len(part), 0
    while at < end and part[at] == 0x0A:
        length, start = varint(part, at + 1)
        at = start + length
        count += 1
    return part[:at], count
