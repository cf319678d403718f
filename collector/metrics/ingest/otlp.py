"""OTLP metrics: decodes a request in protobuf or JSON into a monitor's buffer."""

import asyncio
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.metrics.core.series import MAX_LABELS, NAME, TOO_MANY, BadSeries, SeriesState
from collector.metrics.ingest.series import Forms, ReceiverState, SeriesPush
from collector.metrics.ingest.wire import parts, varint_length
from shared.errors import BodyTooLarge, Invalid
from shared.wire.otlp.metrics_pb2 import ExponentialHistogram, Histogram, Number, Summary

MAX_POINTS: Final = 100_000
MAX_POINT_BYTES: Final = 256 << 10
MAX_JSON: Final = 4 << 20
# Limit of resources, scopes and metrics in a request.
MAX_PARTS: Final = 50_000
_AT_ONCE: Final = 500
_PARTS_AT_ONCE: Final = 500
_NS_IN_MS: Final = 1_000_000
_NO_VALUE: Final = 1  # flag of a series that ended
_MANY_POINTS: Final = {"body": f"must not have more than {MAX_POINTS} data points"}
_BAD: Final = {"body": "has a part that is no metric of OTLP"}

# The message type of the points, by field number of the metric.
_POINTS: Final[Mapping[int, Any]] = {
    5: Number,
    7: Number,
    9: Histogram,
    10: ExponentialHistogram,
    11: Summary,
}

# Tags of a point's start, time and value, each followed by eight bytes.
_START, _TIME, _AS_DOUBLE, _AS_INT = b"\x11", b"\x19", b"\x21", b"\x31"
_VALUES: Final = frozenset((_AS_DOUBLE, _AS_INT))
_NS, _DOUBLE, _INT = (struct.Struct(form).unpack_from for form in ("<Q", "<d", "<q"))


def from_json(body: bytes) -> bytes:
    """Convert a JSON request to protobuf; unknown fields are dropped. Raises BodyTooLarge, Invalid."""
    if len(body) > MAX_JSON:
        raise BodyTooLarge(MAX_JSON)
    request = ExportMetricsServiceRequest()
    try:
        json_format.Parse(body, request, ignore_unknown_fields=True, max_recursion_depth=64)
    except (json_format.ParseError, UnicodeDecodeError, RecursionError):
        raise Invalid({"body": "must be a request of OTLP for metrics in JSON"}) from None
    return request.SerializeToString()


async def take(raw: bytes, taking: SeriesPush) -> None:
    """Store a protobuf request. Raises Invalid; points before an error are stored by then."""
    walk = _RequestReader(taking)
    for _ in walk.points(raw):
        await asyncio.sleep(0)


class _RequestReader:
    """Walks through the resources, scopes and metrics of one request."""

    def __init__(self, taking: SeriesPush) -> None:
        self._taking = taking
        self._state: ReceiverState = taking.state
        self._left = MAX_PARTS

    def points(self, raw: bytes) -> Iterator[None]:
        """Process points one at a time; yields now and then to let other tasks run."""
        for number, part in self._parts(raw):
            if number == 1:
                yield from self._resource(part)
            if not self._left % _PARTS_AT_ONCE:
                yield None

    def _resource(self, raw: bytes) -> Iterator[None]:
        resource = b"".join(part for number, part in parts(raw) if number == 1)
        labels = {f"resource.{name}": text for name, text in _attributes(_read(Resource, resource)).items()}
        matches = self._state.matches({name.removeprefix("resource."): text for name, text in labels.items()})
        for number, part in self._parts(raw):
            if number == 2:
                yield from self._scope(part, resource, labels, matches=matches)

    def _scope(
        self, raw: bytes, resource: bytes, labels: Mapping[str, str], *, matches: bool
    ) -> Iterator[None]:
        scope = b"".join(part for number, part in parts(raw) if number == 1)
        name = b"".join(part for number, part in parts(scope) if number == 1)
        within = {**labels, "scope": _text(name)} if name else labels
        for number, part in self._parts(raw):
            if number == 2:
                yield from self._metric(part, resource + b"\0" + scope, within, matches=matches)

    def _metric(self, raw: bytes, head: bytes, labels: Mapping[str, str], *, matches: bool) -> Iterator[None]:
        name = b"".join(part for number, part in parts(raw) if number == 1)
        labels = {**labels, NAME: _text(name)}
        for number, part in parts(raw):
            if number not in _POINTS:
                continue
            cls = _POINTS[number]
            forms = self._state.forms(b"%d\0%b\0%b" % (number, name, head))
            if not matches:
                yield from (None for field, _ in parts(part) if field == 1 and self._count())
            elif cls is Number:
                yield from self._numbers(part, forms, labels)
            else:
                yield from self._distributions(part, cls, forms, labels)

    def _numbers(self, raw: bytes, forms: Forms, labels: Mapping[str, str]) -> Iterator[None]:
        """Exporters usually write times and value first, followed by attributes that are known already."""
        sample, known = self._taking.sample, forms.get
        for field, part in parts(raw):
            if field != 1:
                continue
            if self._count():
                yield None
            at = 9 if part[:1] == _START else 0
            tag = part[at + 9 : at + 10] if part[at : at + 1] == _TIME else b""
            series = known(part[at + 18 :]) if tag in _VALUES else None
            if series is None:
                self._whole(part, forms, labels)
                continue
            value = _DOUBLE(part, at + 10)[0] if tag == _AS_DOUBLE else float(_INT(part, at + 10)[0])
            sample(series, _NS(part, at + 1)[0] // _NS_IN_MS, value)

    def _whole(self, part: bytes, forms: Forms, labels: Mapping[str, str]) -> None:
        """Parse a point completely, and remember the bytes of its attributes if they come last."""
        point = _read(Number, part)
        at_ms = point.time_unix_nano // _NS_IN_MS
        series = self._series((), point, forms, labels) if self._taking.timely(at_ms) else None
        if series is None:
            return
        tail = part[27 if part[:1] == _START else 18 :]
        if tail and sum(
            1 + len(attribute) + varint_length(len(attribute)) for attribute in point.attributes
        ) == len(tail):
            self._state.remember_form(forms, tail, series)
        # Zero means that it is not set.
        value = point.as_double or float(point.as_int)
        self._taking.sample(series, at_ms, value, stale=bool(point.flags & _NO_VALUE))

    def _distributions(self, raw: bytes, cls: Any, forms: Forms, labels: Mapping[str, str]) -> Iterator[None]:
        taking = self._taking
        for part in (content for field, content in parts(raw) if field == 1):
            if self._count():
                yield None
            point = _read(cls, part)
            at_ms = point.time_unix_nano // _NS_IN_MS
            if not taking.timely(at_ms):
                continue
            for suffix, quantile, value in _values(point):
                series = self._series((suffix, quantile), point, forms, labels)
                if series is None:
                    break
                taking.sample(series, at_ms, value, stale=bool(point.flags & _NO_VALUE))

    def _series(
        self, kind: tuple[str, ...], point: Any, forms: Forms, labels: Mapping[str, str]
    ) -> SeriesState | None:
        """The series of a point or of a part of it; None if it is rejected."""
        form = (*point.attributes, *(word.encode() for word in kind))
        series = forms.get(form)
        if series is None:
            suffix, quantile = kind or ("", "")
            within = {**labels, "quantile": quantile} if quantile else labels
            try:
                series = self._state_of(point, suffix, within)
            except BadSeries as error:
                self._taking.taken.refuse(str(error))
                return None
            self._state.remember_form(forms, form, series)
        return series

    def _state_of(self, point: Any, suffix: str, labels: Mapping[str, str]) -> SeriesState:
        if len(point.attributes) > MAX_LABELS:
            raise BadSeries(TOO_MANY)
        own = _pairs(_read(KeyValue, attribute) for attribute in point.attributes)
        whole = {**own, **labels, NAME: labels[NAME] + suffix if labels[NAME] else ""}
        state = self._state.find(whole, count=len(whole))
        assert state is not None  # noqa: S101 - mismatches end at their resource
        return state

    def _parts(self, raw: bytes) -> Iterator[tuple[int, bytes]]:
        for part in parts(raw):
            self._left -= 1
            if self._left < 0:
                raise Invalid({"body": f"has more than {MAX_PARTS} parts"})
            yield part

    def _count(self) -> bool:
        """Count a point. Return whether other tasks should run now."""
        taken = self._taking.taken
        taken.samples += 1
        if taken.samples > MAX_POINTS:
            raise Invalid(_MANY_POINTS)
        return not taken.samples % _AT_ONCE


def _values(point: Any) -> Iterator[tuple[str, str, float]]:
    """The values of a distribution: suffix of the series' name, quantile, value."""
    yield "_count", "", float(point.count)
    if point.HasField("sum"):
        yield "_sum", "", point.sum
    if isinstance(point, Summary):
        yield from (
            ("", f"{quantile.quantile:g}", quantile.value) for quantile in point.quantile_values[:MAX_LABELS]
        )


def _read(cls: Any, raw: bytes) -> Any:
    if len(raw) > MAX_POINT_BYTES:
        raise Invalid({"body": f"has a data point or a resource of more than {MAX_POINT_BYTES >> 10} KiB"})
    try:
        return cls.FromString(raw)
    except DecodeError:
        raise Invalid(_BAD) from None


def _attributes(resource: Any) -> dict[str, str]:
    if len(resource.attributes) > MAX_LABELS:
        raise Invalid({"body": f"has a resource with more than {MAX_LABELS} attributes"})
    return _pairs(resource.attributes)


def _pairs(attributes: Any) -> dict[str, str]:
    return {attribute.key: _shown(attribute.value) for attribute in attributes}


def _shown(value: AnyValue) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else orjson.dumps(plain).decode()


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    nested: Mapping[str, Callable[[], Any]] = {
        "array_value": lambda: [_plain(item) for item in value.array_value.values],
        "kvlist_value": lambda: {item.key: _plain(item.value) for item in value.kvlist_value.values},
        "bytes_value": value.bytes_value.hex,
    }
    if kind is None:
        return ""
    # JSON has no integers above 64 bits.
    return nested[kind]() if kind in nested else getattr(value, kind, "")


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise Invalid(_BAD) from None
