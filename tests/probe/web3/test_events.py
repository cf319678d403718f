"""What logs say, read as two other programs read them, and as no hostile contract would like."""

import json
import time
from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from hypothesis import given, settings
from hypothesis import strategies as st

from probe.web3.decode import checksummed, decoded, keccak
from probe.web3.events import arguments, finding, raw, topic
from probe.web3.logs import Log
from shared.findings import Finding, bounded
from shared.kinds.web3.abi import AbiEvent, Param, event_of
from tests.probe.web3.crosscheck import Web3, get_event_data

CODEC = Web3().codec
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 64, 72, 256)]
LEAVES = [*INTEGERS, "address", "bool", "bytes1", "bytes20", "bytes32", "bytes", "string"]
PLACE = "0x" + "c0" * 20
WORD = 32


def log(data: bytes = b"", *topics: bytes) -> Log:
    return Log(PLACE, topics, data, 7, "0x" + "bb" * 32, "0x" + "aa" * 32, 3)


def params(depth: int = 2) -> st.SearchStrategy[Param]:
    arrays = st.sampled_from(["", "", "", "[]", "[2]", "[][3]", "[2][]"])
    leaf = st.builds(Param, st.just("a"), st.sampled_from(LEAVES), arrays)
    if not depth:
        return leaf
    parts = st.lists(params(depth - 1), min_size=1, max_size=3).map(named_apart)
    return leaf | st.builds(Param, st.just("a"), st.just("tuple"), arrays, parts)


def named_apart(parts: list[Param], indexed: bool = False) -> tuple[Param, ...]:
    return tuple(
        Param(f"p{at}", param.type, param.arrays, param.parts, indexed=indexed)
        for at, param in enumerate(parts)
    )


def value(param: Param) -> st.SearchStrategy[Any]:
    """One that eth_abi takes."""
    if param.arrays:
        start = param.arrays.rindex("[")
        inner = value(Param("", param.type, param.arrays[:start], param.parts))
        length = param.arrays[start + 1 : -1]
        return st.lists(inner, min_size=int(length or 0), max_size=int(length or 3))
    if param.type == "tuple":
        return st.tuples(*map(value, param.parts))
    if "int" in param.type:
        bits = int(param.type.removeprefix("u")[3:])
        least = 0 if param.type[0] == "u" else -(2 ** (bits - 1))
        return st.integers(least, least + 2**bits - 1)
    if param.type == "address":
        return st.binary(min_size=20, max_size=20).map(lambda some: "0x" + some.hex())
    if param.type == "string":
        return st.text(max_size=40)
    size = param.type[5:]
    return {"bool": st.booleans()}.get(
        param.type, st.binary(min_size=int(size or 0), max_size=int(size or 70))
    )


def as_told(param: Param, said: Any) -> Any:
    """What eth_abi or web3.py *said*, as findings have it."""
    if param.arrays:
        inner = Param("", param.type, param.arrays[: param.arrays.rindex("[")], param.parts)
        return [as_told(inner, item) for item in said]
    if param.type == "tuple":
        parts = said.values() if hasattr(said, "values") else said
        return {part.name: as_told(part, one) for part, one in zip(param.parts, parts, strict=True)}
    if isinstance(said, bytes):
        return "0x" + said.hex()
    if param.type == "address":
        return Web3.to_checksum_address(said)
    return said if isinstance(said, bool) else str(said).replace("\0", "\ufffd")


@st.composite
def spoken(draw: st.DrawFn, most: int = 3) -> tuple[tuple[Param, ...], list[Any]]:
    inputs = named_apart(draw(st.lists(params(), max_size=most)))
    return inputs, [draw(value(param)) for param in inputs]


@settings(max_examples=150, deadline=None)
@given(spoken())
def test_data_says_what_was_put_into_it(said: tuple[tuple[Param, ...], list[Any]]) -> None:
    inputs, values = said
    data = encode([param.canonical for param in inputs], values)
    expected = [as_told(param, one) for param, one in zip(inputs, values, strict=True)]
    assert decoded(inputs, data) == expected
    assert json.loads(json.dumps(expected)) == expected


@settings(max_examples=150, deadline=None)
@given(spoken(), st.data())
def test_what_another_decoder_refuses_or_reads_we_do_alike(
    said: tuple[tuple[Param, ...], list[Any]], drawn: st.DataObject
) -> None:
    inputs, values = said
    types = [param.canonical for param in inputs]
    data = bytearray(encode(types, values))
    for _ in range(drawn.draw(st.integers(1, 3)) if data else 0):
        data[drawn.draw(st.integers(0, len(data) - 1))] = drawn.draw(st.integers(0, 255))
    try:
        theirs = decode(types, bytes(data))
    except (DecodingError, ValueError, OverflowError):
        return  # padding that is not zero we forgive
    try:
        ours: Any = decoded(inputs, bytes(data))
    except ValueError as error:
        ours = str(error).removesuffix("more values than there are bytes")  # offsets that overlap
    assert ours in ("", [as_told(param, one) for param, one in zip(inputs, theirs, strict=True)])


@given(st.lists(params(), min_size=1, max_size=3).map(named_apart), st.binary(max_size=400))
def test_no_bytes_do_more_than_be_refused(inputs: tuple[Param, ...], data: bytes) -> None:
    try:
        said = decoded(inputs, data)
    except ValueError:
        return
    assert "\\u0000" not in json.dumps(said)


@settings(max_examples=60, deadline=None)
@given(spoken(2), spoken(3), st.booleans())
def test_a_whole_log_says_what_web3_py_reads_in_it(
    topics: tuple[tuple[Param, ...], list[Any]], inside: tuple[tuple[Param, ...], list[Any]], anonymous: bool
) -> None:
    # web3.py can't hash indexed tuples itself, but reads back any word.
    apart = [topic for topic in topics[0] if topic.static]
    words = [encode([one.canonical], [said]) for one, said in zip(*topics, strict=True) if one.static]
    inputs = [
        *(Param(f"i{at}", one.type, indexed=True) for at, one in enumerate(apart)),
        *inside[0],
    ]
    event = AbiEvent("Rang", tuple(inputs), anonymous)
    first = [] if anonymous else [keccak(event.signature.encode())]
    data = encode([param.canonical for param in inside[0]], inside[1])
    entry = {
        "address": Web3.to_checksum_address(PLACE),
        "topics": [*first, *words],
        "data": data,
        "blockNumber": 7,
        "blockHash": b"",
        "transactionHash": b"",
        "transactionIndex": 0,
        "logIndex": 3,
    }
    theirs = get_event_data(CODEC, abi_of(event), entry)["args"]
    assert arguments(event, log(data, *first, *words)) == {
        param.name: as_told(param, theirs[param.name]) for param in inputs
    }


def abi_of(event: AbiEvent) -> Any:
    return {
        "type": "event",
        "name": event.name,
        "anonymous": event.anonymous,
        "inputs": [entry(param) for param in event.inputs],
    }


def entry(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "type": param.type + param.arrays,
        "indexed": bool(param.indexed),
        "components": [entry(part) for part in param.parts],
    }


def test_an_abi_says_the_same_event_that_it_was_made_of() -> None:
    event = event_of(None, "Rang((uint8 x,(string s)[2] y)[] bells, bytes32 indexed by)")
    assert event_of([abi_of(event)], "Rang") == event


@pytest.mark.races
def test_offsets_that_point_at_each_other_take_no_time() -> None:
    count = 100
    data = count.to_bytes(WORD) + (1).to_bytes(WORD) * count
    for _ in range(3):
        data = count.to_bytes(WORD) + (WORD * count).to_bytes(WORD) * count + data
    began = time.process_time()
    with pytest.raises(ValueError, match="more values than there are bytes"):
        decoded([Param("all", "uint256", "[][][][]")], WORD.to_bytes(WORD) + data)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize("claimed", [2**255, 2**64, 10**6])
@pytest.mark.parametrize("type_", ["uint256", "string", "bytes"])
@pytest.mark.parametrize("arrays", ["[]", "[][]", "[3][]"])
def test_lengths_that_can_not_be_are_refused(claimed: int, type_: str, arrays: str) -> None:
    data = WORD.to_bytes(WORD) + claimed.to_bytes(WORD) + bytes(64)
    with pytest.raises(ValueError, match=r"more values|too large"):
        decoded([Param("all", type_, arrays)], data)


def test_broken_text_and_nul_come_through_as_json_that_postgresql_takes() -> None:
    data = b"a\0b\xff\xed\xa0\x80c"
    [text] = decoded([Param("said", "string")], encode(["bytes"], [data]))
    assert text.startswith("a\ufffdb\ufffd")
    assert text.endswith("c")
    assert not set(text) & {"\0", "\ud800"}


@pytest.mark.parametrize(
    ("event", "topics", "data"),
    [
        ("E(uint8 a)", 0, (256).to_bytes(WORD)),
        ("E(int8 a)", 0, (128).to_bytes(WORD)),
        ("E(bool a)", 0, (2).to_bytes(WORD)),
        ("E(address a)", 0, b"\xff" * WORD),
        ("E(bytes4 a)", 0, b"\xff" * WORD),
        ("E(uint256 a)", 0, b""),
        ("E(uint256 indexed a)", 0, bytes(WORD)),
        ("E(uint256 indexed a, uint256 b)", 2, b""),
        ("E(string a)", 0, bytes(70_000)),
    ],
)
def test_a_log_of_another_shape_can_not_be_read(event: str, topics: int, data: bytes) -> None:
    made = event_of(None, event)
    with pytest.raises(ValueError, match="a log of E"):
        arguments(made, log(data, b"\x01" * WORD, *[b"\x02" * WORD] * topics))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_signature_that_says_nothing_of_indexes_fits_each_number_of_them(count: int) -> None:
    event = event_of(None, "Transfer(address,address,uint256)")
    words = [bytes(31) + bytes([at]) for at in range(1, 4)]
    answer = arguments(event, log(b"".join(words[count:]), keccak(b""), *words[:count]))
    assert answer == {"0": "0x" + "0" * 39 + "1", "1": "0x" + "0" * 39 + "2", "2": "3"}


def test_an_address_has_its_checksum_and_a_transfer_its_topic() -> None:
    assert (
        checksummed("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
        == "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    )
    transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    assert topic(event_of(None, "Transfer(address,address,uint256)")) == transfer
    assert topic(event_of(None, "Transfer(uint256) anonymous")) is None


def told(finding: Finding) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(finding.data)
    return answer


def test_a_finding_says_where_the_log_lies() -> None:
    answer = told(finding("Rang", log(), {"bells": "5"}))
    assert answer == {
        "name": "Rang",
        "args": {"bells": "5"},
        "address": Web3.to_checksum_address(PLACE),
        "transactionHash": "0x" + "aa" * 32,
        "blockNumber": 7,
        "blockHash": "0x" + "bb" * 32,
        "logIndex": 3,
    }


@pytest.mark.parametrize(
    "args",
    [
        {"a": "x" * 10**6},
        {"a": ["1"] * 10**5},
        {"a": [["1" * 78] * 300] * 300},
        {"a" * 100 + str(at): "x" for at in range(2000)},
        raw(log(bytes(10**6), *[b"\xff" * WORD] * 4)),
    ],
)
def test_arguments_that_are_too_long_are_cut_and_it_says_so(args: dict[str, Any]) -> None:
    one = finding("Rang", log(), args)
    assert len(one.data) < 26_000
    assert "too long to be told whole" in told(one)["error"]
    assert bounded([one])
