"""Batches survive the wire unchanged, and nothing else gets through it."""

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.evidence import Evidence
from shared.findings import MAX_BYTES, MAX_FINDINGS, Finding, Findings
from shared.wire.convert import MAX_FOUND, BadBatch, Batch, Gap, decode, encode, signed, unsigned
from shared.wire.v1 import probe_pb2

pytestmark = pytest.mark.races

BOOT = "6f0c2a52-2f0b-4a6e-9c39-0a6c3c0f5b11"
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)

EVIDENCE = st.builds(
    Evidence, TEXT, st.lists(st.tuples(TEXT, TEXT), max_size=5).map(tuple), st.text("abc ä", max_size=500)
)
FINDINGS = st.lists(
    st.builds(
        Finding,
        st.sampled_from(Findings),
        st.text("abc:0ä", min_size=1, max_size=128),
        st.binary(max_size=500),
    ),
    max_size=4,
).map(tuple)


def some(count: int = 3, **changes: object) -> Batch:
    batch = Batch(
        incarnation=-5,
        first_seq=7,
        seq=7,
        boot_id=BOOT,
        base_us=10**12,
        wall_us=10**15,
        monitor=list(range(1, count + 1)),
        location=[1] * count,
        assignment=[9] * count,
        revision=[1] * count,
        run=[1] * count,
        start_us=[-3 + i for i in range(count)],
        duration_us=[1500] * count,
        outcome=[1] * count,
        code=[200] * count,
        phases=[b"\x01\x02"] * count,
        error=[0] * count,
        errors=[],
        state={},
    )
    return replace(batch, **changes)  # type: ignore[arg-type]


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    count = draw(st.integers(1, 20))
    errors = draw(st.lists(TEXT, max_size=count, unique=True))

    def column(values: st.SearchStrategy[object]) -> object:
        return draw(st.lists(values, min_size=count, max_size=count))

    return some(
        incarnation=draw(st.integers(-(2**63), 2**63 - 1)),
        monitor=column(st.integers(1, 2**31 - 1)),
        location=column(st.integers(1, 2**15 - 1)),
        assignment=column(st.integers(0, 2**63 - 1)),
        revision=column(st.integers(0, 2**31 - 1)),
        run=column(st.integers(1, 3)),
        start_us=column(st.integers(-(10**12), 2**50)),
        duration_us=column(st.integers(0, 2**32 - 1)),
        outcome=column(st.integers(1, 3)),
        code=column(st.integers(0, 2**15 - 1)),
        phases=column(st.binary(max_size=24)),
        error=column(st.integers(0, len(errors))),
        errors=errors,
        evidence=draw(st.dictionaries(st.integers(0, count - 1), EVIDENCE, max_size=3)),
        state=draw(st.dictionaries(st.integers(0, count - 1), st.binary(max_size=50), max_size=3)),
        found=draw(st.dictionaries(st.integers(0, count - 1), FINDINGS, max_size=3)),
    )


@given(batches())
def test_a_batch_comes_back_as_it_was(batch: Batch) -> None:
    assert decode(encode(batch)) == batch


@given(st.integers(1, 2**40), st.integers(0, 1000), st.integers(0, 2**63 - 1), TEXT)
def test_a_gap_comes_back_as_it_was(first: int, more: int, results: int, reason: str) -> None:
    gap = Batch(1, first, first + more, BOOT, 5, 6, gap=Gap(results, reason))
    decoded = decode(encode(gap))
    assert (decoded.first_seq, decoded.seq, decoded.gap) == (first, first + more, Gap(results, reason))
    assert not decoded.monitor


@given(st.binary(max_size=300))
def test_any_bytes_are_a_batch_or_refused(data: bytes) -> None:
    try:
        batch = decode(data)
    except BadBatch:
        return
    assert len(batch.location) == len(batch.monitor)


def test_a_batch_with_flipped_bits_is_whole_or_refused() -> None:
    chance = random.Random(11)
    good = encode(some(50, errors=["refused"], error=[1] * 50, outcome=[2] * 50))
    for _ in range(2000):
        data = bytearray(good)
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        try:
            batch = decode(bytes(data))
        except BadBatch:
            continue
        columns = (batch.location, batch.run, batch.phases, batch.error, batch.outcome, batch.duration_us)
        assert all(len(column) == len(batch.monitor) for column in columns)
        assert all(index <= len(batch.errors) for index in batch.error)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"first_seq": 0, "seq": 0}, id="seq begins at 1"),
        pytest.param({"first_seq": 8}, id="first_seq after seq"),
        pytest.param({"first_seq": 6}, id="only a gap stands for several batches"),
        pytest.param({"seq": 2**63, "first_seq": 2**63}, id="seq beyond bigint"),
        pytest.param({"base_us": 2**60}, id="clock out of range"),
        pytest.param({"wall_us": 2**60}, id="wall clock out of range"),
        pytest.param({"boot_id": "x" * 65}, id="boot_id too long"),
        pytest.param({"boot_id": "a\0"}, id="boot_id with NUL"),
        pytest.param({"location": [1, 1]}, id="ragged"),
        pytest.param({"phases": [b""] * 4}, id="ragged phases"),
        pytest.param({"monitor": [0, 1, 2]}, id="monitor 0"),
        pytest.param({"monitor": [2**31, 1, 2]}, id="monitor beyond int"),
        pytest.param({"location": [2**15, 1, 2]}, id="location beyond smallint"),
        pytest.param({"assignment": [2**63, 1, 2]}, id="assignment beyond bigint"),
        pytest.param({"run": [4, 1, 1]}, id="a test is no result"),
        pytest.param({"run": [0, 1, 1]}, id="no kind of run"),
        pytest.param({"outcome": [1, 0, 1]}, id="no outcome"),
        pytest.param({"outcome": [1, 4, 1]}, id="unknown outcome"),
        pytest.param({"start_us": [-(10**13), 0, 0]}, id="before the boot"),
        pytest.param({"code": [2**15, 0, 0]}, id="code beyond smallint"),
        pytest.param({"phases": [b"x" * 25, b"", b""]}, id="phases too long"),
        pytest.param({"error": [1, 0, 0]}, id="error of no text"),
        pytest.param({"errors": ["x" * 513]}, id="error too long"),
        pytest.param({"errors": ["\0"]}, id="error with NUL"),
        pytest.param({"errors": list("abcd")}, id="more errors than results"),
        pytest.param({"state": {3: b""}}, id="state of no result"),
        pytest.param({"state": {0: b"x" * 65_537}}, id="state too large"),
        pytest.param({"found": {3: ()}}, id="findings of no result"),
        pytest.param({"found": {0: (Finding(Findings.LOG, ""),)}}, id="a finding without a key"),
        pytest.param({"found": {0: (Finding(Findings.LOG, "\0"),)}}, id="a finding's key with NUL"),
        pytest.param({"found": {0: (Finding(Findings.LOG, "x" * 129),)}}, id="a finding's key too long"),
        pytest.param(
            {"found": {0: (Finding(Findings.LOG, "x"),) * (MAX_FINDINGS + 1)}}, id="too many findings"
        ),
        pytest.param(
            {"found": {0: (Finding(Findings.LOG, "x", bytes(MAX_BYTES + 1)),)}}, id="large findings"
        ),
        pytest.param({"evidence": {3: Evidence()}}, id="evidence of no result"),
        pytest.param({"evidence": {0: Evidence(body="x" * 4097)}}, id="evidence too large"),
        pytest.param({"evidence": {0: Evidence(headers=(("a", "b"),) * 21)}}, id="too many headers"),
        pytest.param({"evidence": {0: Evidence(headers=(("a", "\0"),))}}, id="evidence with NUL"),
        pytest.param({"gap": Gap(1, "lost")}, id="a gap with results"),
    ],
)
def test_refuses(changes: dict[str, object]) -> None:
    with pytest.raises(BadBatch):
        decode(encode(some(**changes)))  # type: ignore[arg-type]


def test_refuses_more_results_than_a_batch_may_hold() -> None:
    decode(encode(some(10_000)))
    with pytest.raises(BadBatch):
        decode(encode(some(10_001)))


def test_refuses_more_findings_than_a_batch_may_hold() -> None:
    full = dict.fromkeys(range(MAX_FOUND // MAX_FINDINGS), (Finding(Findings.LOG, "x"),) * MAX_FINDINGS)
    decode(encode(some(MAX_FOUND // MAX_FINDINGS + 1, found=full)))
    with pytest.raises(BadBatch, match="too many findings"):
        decode(encode(some(len(full) + 1, found={**full, len(full): (Finding(Findings.LOG, "x"),)})))


def test_refuses_a_batch_without_anything() -> None:
    with pytest.raises(BadBatch):
        decode(encode(some(0)))


def test_refuses_a_message_beyond_all_measure() -> None:
    with pytest.raises(BadBatch):
        decode(bytes(5 * 1024 * 1024))


@given(st.integers(0, 2**64 - 1))
def test_incarnations_are_the_same_number_on_both_sides(wire: int) -> None:
    assert unsigned(signed(wire)) == wire
    assert -(2**63) <= signed(wire) < 2**63


def test_new_fields_of_a_newer_probe_are_passed_over() -> None:
    wire = probe_pb2.Batch.FromString(encode(some()))
    unknown = b"\xfa\x3e\x03new"  # field 1007
    assert decode(wire.SerializeToString() + unknown) == some()


def test_a_finding_of_an_unknown_kind_is_refused() -> None:
    wire = probe_pb2.Batch.FromString(encode(some(found={0: (Finding(Findings.LOG, "x"),)})))
    wire.found[0].finding[0].found = 9
    with pytest.raises(BadBatch):
        decode(wire.SerializeToString())


def test_a_header_without_its_value_is_refused() -> None:
    wire = probe_pb2.Batch.FromString(encode(some()))
    wire.evidence[0].names.append("Server")
    with pytest.raises(BadBatch):
        decode(wire.SerializeToString())


def test_a_thousand_results_are_read_quickly() -> None:
    data = encode(some(1000))
    best = min(_timed(data) for _ in range(20))
    assert best < 0.01  # half a millisecond on an idle machine


def _timed(data: bytes) -> float:
    start = time.perf_counter()
    decode(data)
    return time.perf_counter() - start
