"""A probe may say anything: what cannot be meant is refused in a word, what happened is never lost."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.web3.core.findings import FoundLog, RevertedBlocks, ThresholdCrossing, Unreadable, read
from shared.findings import Finding, Findings

HASH = "0x" + "ab" * 32
LOG = {"blockNumber": 7, "blockHash": HASH, "logIndex": 0, "name": "Paid", "args": {"a": "1"}}


def of_log(key: str = f"{HASH}:0", **said: object) -> Finding:
    return Finding(Findings.LOG, key, orjson.dumps({**LOG, **said}))


def test_a_crossing_is_read() -> None:
    data = {"current": "251.3", "threshold": "200", "unit": "gwei", "message": "words"}
    assert read(Finding(Findings.RAISED, "high_gas", orjson.dumps(data))) == ThresholdCrossing(
        "high_gas", True, data
    )
    assert read(Finding(Findings.RECOVERED, "high_gas")) == ThresholdCrossing("high_gas", False, {})


def test_amounts_that_are_none_are_left_out() -> None:
    data = {"current": 5, "threshold": "1e9", "unit": ["gwei"], "message": "a\0b" + "x" * 1000}
    crossing = read(Finding(Findings.RAISED, "high_gas", orjson.dumps(data)))
    assert isinstance(crossing, ThresholdCrossing)
    assert crossing.data == {"message": "a\ufffdb" + "x" * 497}


def test_words_for_people_are_one_line() -> None:
    """A token's symbol is whatever its maker wrote: it goes into mails."""
    crossing = read(
        Finding(Findings.RAISED, "low_tvl", orjson.dumps({"message": " a\r\n\tb\u2028c ", "unit": "X\nY"}))
    )
    assert isinstance(crossing, ThresholdCrossing)
    assert crossing.data == {"message": "a b c", "unit": "X Y"}


def test_a_log_is_read_and_only_what_is_known_of_it_is_kept() -> None:
    log = read(of_log(other="thing", address="0x11"))
    assert isinstance(log, FoundLog)
    assert (log.block, log.index, log.block_hash) == (7, 0, HASH)
    assert log.data == {**LOG, "address": "0x11", "transactionHash": HASH}


def test_a_range_that_was_taken_back_is_read() -> None:
    data = orjson.dumps({"first": 5, "last": 6, "hashes": {"5": HASH.upper().replace("X", "x")}})
    assert read(Finding(Findings.RETRACTED, "5-6", data)) == RevertedBlocks(5, 6, {"5": HASH})


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Finding(Findings.RAISED, "High Gas"), id="no alert's type"),
        pytest.param(Finding(Findings.RAISED, "high_gas", b"{"), id="no JSON"),
        pytest.param(Finding(Findings.RAISED, "high_gas", b"[" * 5000), id="JSON without an end"),
        pytest.param(Finding(Findings.RAISED, "high_gas", b"[]"), id="no object"),
        pytest.param(Finding(Findings.RAISED, "high_gas", b'{"message": "\\ud800"}'), id="half a pair"),
        pytest.param(Finding(Findings.RAISED, "high_gas", b"\xff"), id="no UTF-8"),
        pytest.param(Finding(Findings.LOG, f"{HASH}:0"), id="a log without a place"),
        pytest.param(of_log("0xabc:0"), id="no transaction"),
        pytest.param(of_log(f"{HASH}:\u0663"), id="a digit of another script"),
        pytest.param(of_log(blockNumber=-1), id="a block before the first"),
        pytest.param(of_log(blockNumber=2**63), id="a block after the last"),
        pytest.param(of_log(blockNumber=True), id="a truth for a number"),
        pytest.param(of_log(blockNumber="7"), id="a text for a number"),
        pytest.param(of_log(blockHash="0x12"), id="no hash"),
        pytest.param(of_log(logIndex=2**31), id="an index out of bounds"),
        pytest.param(of_log(alert={"type": "<b>"}), id="an alert of no type"),
        pytest.param(Finding(Findings.RETRACTED, "5-6", b'{"first": 5, "last": 6}'), id="no hashes"),
        pytest.param(
            Finding(Findings.RETRACTED, "x", b'{"first": 6, "last": 5, "hashes": {}}'), id="backwards"
        ),
        pytest.param(
            Finding(Findings.RETRACTED, "x", b'{"first": 5, "last": 5, "hashes": {"five": "0x"}}'),
            id="no number",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(bad: Finding) -> None:
    with pytest.raises(Unreadable) as caught:
        read(bad)
    assert len(str(caught.value)) < 20


def test_that_something_happened_counts_even_if_its_arguments_cannot_be_kept() -> None:
    deep: list[object] = []
    for _ in range(40):
        deep = [deep]
    large, nested = read(of_log(args={"a": "x" * 70_000})), read(of_log(args={"a": deep}))
    assert isinstance(large, FoundLog)
    assert isinstance(nested, FoundLog)
    assert (large.data["args"], large.data["error"]) == ({}, "its arguments are too large to be kept")
    assert (nested.data["args"], nested.data["error"]) == (
        {},
        "its arguments are nested too deeply to be kept",
    )


def test_no_nul_reaches_the_database() -> None:
    log = read(of_log(args={"a\0": ["b\0", {"c": "\0"}]}, name="Pa\0id", error="e\0"))
    assert isinstance(log, FoundLog)
    assert b"\\u0000" not in orjson.dumps(log.data)


json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=5) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.sampled_from(Findings),
    st.sampled_from(["high_gas", f"{HASH}:0", f"{HASH}:native", "5-6"]),
    st.dictionaries(
        st.sampled_from([*LOG, "alert", "first", "last", "hashes", "current", "message", "error"]), json
    ),
)
def test_whatever_it_says_is_read_or_refused(found: Findings, key: str, said: dict[str, object]) -> None:
    try:
        taken = read(Finding(found, key, orjson.dumps(said)))
    except Unreadable:
        return
    assert isinstance(taken, ThresholdCrossing | FoundLog | RevertedBlocks)
