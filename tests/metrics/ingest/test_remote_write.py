"""The fast reader of series and points returns what the general one does, whatever is sent."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.metrics.ingest import otlp, remote_write
from collector.metrics.ingest.series import ReceiverState, SeriesPush
from shared.clock import EPOCH
from shared.errors import Invalid
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus
from shared.wire.otlp.metrics_pb2 import Number
from tests.remote_write import part, series

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOW_MS = (NOW - EPOCH) // timedelta(milliseconds=1)
VALUES = st.sampled_from([0.0, 1.0, -2.5, float("inf"), 1e300])
TIMES = st.integers(NOW_MS - 100, NOW_MS) | st.sampled_from([0, 1, 2**41, 2**43, 2**62])
NAMES = st.sampled_from(["a", "b", "\x12\x10\t", "x" * 127, "y" * 130])
SAMPLES = st.lists(st.tuples(NAMES, TIMES, VALUES), max_size=8)


def book(kind: Prometheus | OpenTelemetry) -> ReceiverState:
    return ReceiverState(1, UUID(int=1), 1, 60, 1, kind)


def held(state: ReceiverState) -> dict[str, tuple[int, float | None]]:
    return {series.labels["__name__"]: (series.at_ms, series.value) for series in state.series.values()}


def newest(sent: list[tuple[str, int, float]]) -> dict[str, tuple[int, float]]:
    found: dict[str, tuple[int, float]] = {}
    for name, at_ms, value in sent:
        if 0 < at_ms <= NOW_MS + 600_000 and at_ms > found.get(name, (0, 0.0))[0]:
            found[name] = at_ms, value
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(SAMPLES, max_size=4))
async def test_known_series_are_read_as_the_protobuf_says(bodies: list[list[tuple[str, int, float]]]) -> None:
    state = book(Prometheus())

    for body in bodies:
        raw = b"".join(part(1, series({"__name__": n}, (at, v)).SerializeToString()) for n, at, v in body)
        await remote_write.take_v1(raw, SeriesPush(state, NOW))

    held_ = {name: value for name, value in held(state).items() if value[0] >= 0}
    assert held_ == newest([sample for body in bodies for sample in body])


@settings(max_examples=150, deadline=None)
@given(st.lists(SAMPLES, max_size=4), st.booleans())
async def test_known_points_are_read_as_the_protobuf_says(
    bodies: list[list[tuple[str, int, float]]], started: bool
) -> None:
    state = book(OpenTelemetry())
    start = b"\x11" + bytes(8) if started else b""

    for body in bodies:
        metrics = []
        for name, at, value in body:
            point = Number(time_unix_nano=at * 1_000_000 % 2**64, as_double=value)
            whole = start + point.SerializeToString() + part(7, b"\x0a\x01k\x12\x03\x0a\x01v")
            metrics.append(part(2, part(1, name.encode()) + part(5, part(1, whole))))
        await otlp.take(part(1, part(2, b"".join(metrics))), SeriesPush(state, NOW))

    sent = [(n, at * 1_000_000 % 2**64 // 1_000_000, v) for body in bodies for n, at, v in body]
    held_ = {name: value for name, value in held(state).items() if value[0] >= 0}
    assert held_ == newest(sent)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200), st.booleans())
async def test_any_bytes_are_taken_or_refused(raw: bytes, within: bool) -> None:
    """Nothing but Invalid comes out, whatever goes in."""
    known = series({"__name__": "up"}, (NOW_MS, 1.0)).SerializeToString()
    body = part(1, known) + (part(1, known[: -len(raw) or None] + raw) if within else raw)
    for take, kind in (
        (remote_write.take_v1, Prometheus()),
        (remote_write.take_v2, Prometheus()),
        (otlp.take, OpenTelemetry()),
    ):
        try:
            await take(body, SeriesPush(book(kind), NOW))
        except Invalid as error:
            assert "body" in error.details  # noqa: PT017 - some are taken
