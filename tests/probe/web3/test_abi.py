"""Events as people write them down, and the values that they look for."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.kinds.web3.abi import event_of, others
from shared.kinds.web3.contract_event import ContractEvent
from shared.kinds.web3.sought import sought

ADDRESS = "0x" + "aB" * 20
TRANSFER = "Transfer(address,address,uint256)"
ENTRY = {
    "type": "event",
    "name": "Transfer",
    "inputs": [
        {"name": "from", "type": "address", "indexed": True},
        {"name": "to", "type": "address", "indexed": True},
        {"name": "value", "type": "uint256"},
    ],
}
UNREADABLE = {"type": "event", "name": "Price", "inputs": [{"name": "at", "type": "fixed128x18"}]}


@pytest.mark.parametrize(
    "abi", [[ENTRY], ENTRY, json.dumps([ENTRY]), json.dumps(ENTRY), [{"type": "function"}, UNREADABLE, ENTRY]]
)
def test_an_event_is_found_in_an_array_one_entry_or_either_as_text_whatever_else_is_there(abi: Any) -> None:
    assert event_of(abi, "Transfer") == event_of(abi, TRANSFER)
    assert event_of(abi, " Transfer ").signature == TRANSFER
    assert [param.indexed for param in event_of(abi, "Transfer").inputs] == [True, True, False]


@pytest.mark.parametrize("abi", [None, "", []])
@pytest.mark.parametrize(
    ("written", "signature"),
    [
        (TRANSFER, TRANSFER),
        ("event Transfer(address indexed from, address to, uint value);", TRANSFER),
        (
            "Moved((uint8,int)[2][] points, tuple(bool a, string)\tindexed last)",
            "Moved((uint8,int256)[2][],(bool,string))",
        ),
        ("Secret ( uint256 id ) anonymous ;", "Secret(uint256)"),
        ("Nothing()", "Nothing()"),
        ("Named(function callback,bytes32,bytes)", "Named(function,bytes32,bytes)"),
    ],
)
def test_without_an_abi_a_full_signature_says_it(abi: Any, written: str, signature: str) -> None:
    event = event_of(abi, written)
    assert event.signature == signature
    assert event.anonymous == ("anonymous" in written)


@pytest.mark.parametrize(
    "written",
    [
        "Transfer",
        "",
        "(",
        "Transfer(",
        "Transfer)",
        "Transfer(address",
        "Transfer(address,)",
        "A(uint7)",
        "A(uint264)",
        "A(bytes33)",
        "A(bytes0)",
        "A(bytes01)",
        "A(uint256[0])",
        "A(uint256[-1])",
        "A(())",
        "A(()[] x)",
        "A(tuple x)",
        "A(uint256[][][][][])",
        "A(uint a b)",
        "A(uint)) x",
        "A((uint)",
        "A(" + "(" * 9 + "uint" + ")" * 9 + ")",
        "A(" + "uint," * 64 + "uint)",
        "1A(uint)",
        "event event A(uint)",
        "A(uint) nonymous",
        "Ä(uint)",
        "A(string\0)",
    ],
)
def test_what_is_no_signature_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        event_of(None, written)


@pytest.mark.parametrize(
    "abi",
    [
        "no json",
        "7",
        [7],
        7,
        {},
        [{"type": "event"}],
        [{"name": "Transfer", "inputs": 7}],
        [{"name": "Transfer", "inputs": [7]}],
        [{"name": "Transfer", "inputs": [{"type": 7}]}],
        [{"name": "Transfer", "inputs": [{"type": "tuple"}]}],
        [{"name": "Transfer", "inputs": [{"type": "tuple", "components": []}]}],
        [ENTRY, {**ENTRY, "inputs": []}],
        [{**ENTRY, "type": "function"}],
        [ENTRY] * 5001,
    ],
)
def test_an_abi_in_which_the_event_can_not_be_found_is_refused(abi: Any) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        event_of(abi, "Transfer")


def test_of_several_events_of_one_name_the_signature_says_which() -> None:
    entries = [
        {"name": "Same", "inputs": [{"type": "uint"}]},
        {"name": "Same", "inputs": [{"type": "address"}]},
    ]
    with pytest.raises(ValueError, match=r"several events Same: say which by Same\(uint256\)"):
        event_of(entries, "Same")
    assert event_of(entries, "Same(address)").signature == "Same(address)"
    assert others(entries, event_of(entries, "Same(address)")) == ["Same(uint256)"]


@given(st.text(max_size=200) | st.from_regex(r"[A-C(),\[\]0-9a-z \t]{0,60}"))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with suppress(ValueError):
        event_of(None, text)


@pytest.mark.races
@pytest.mark.parametrize("written", ["A()" + " " * 4000 + "x", "A(" * 2000, "event" + " " * 4000])
def test_no_text_takes_long(written: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"\w"):
        event_of(None, written)
    assert time.process_time() - began < 0.5


VALUES = "uint8 small, int8 signed, address who, bool flag, bytes4 code, bytes raw, string said"
LOOKED_FOR = f"E({VALUES}, uint[] list, (uint) indexed pair)"


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("small", 255, ["255"]),
        ("small", "0xFf", ["255"]),
        ("small", 7.0, ["7"]),
        ("signed", "-128", ["-128"]),
        ("small", [1, "2"], ["1", "2"]),
        ("who", ADDRESS, [ADDRESS.lower()]),
        ("flag", True, ["true"]),
        ("flag", "False", ["false"]),
        ("code", "0xAB", ["0xab000000"]),
        ("raw", "0xAB", ["0xab"]),
        ("raw", "0x", ["0x"]),
        ("said", "Glocke", ["Glocke"]),
        ("pair", "0x" + "AB" * 32, ["0x" + "ab" * 32]),
    ],
)
def test_values_are_looked_for_in_the_form_in_which_they_are_told(
    name: str, value: Any, plain: list[str]
) -> None:
    assert sought(event_of(None, LOOKED_FOR), {name: value}) == {name: plain}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("small", 256),
        ("small", -1),
        ("small", "five"),
        ("small", 1.5),
        ("small", 2.0**60),
        ("small", True),
        ("small", None),
        ("signed", 128),
        ("signed", "-129"),
        ("who", "0xab"),
        ("who", 5),
        ("flag", 1),
        ("code", "0xabcdef0123"),
        ("code", "0xa"),
        ("code", "ab"),
        ("raw", 5),
        ("said", 5),
        ("said", "x" * 5000),
        ("list", ["0x" + "00" * 32]),
        ("pair", "0xab"),
        ("small", []),
        ("small", [1] * 101),
        ("small", [[1]]),
        ("small", {"a": 1}),
        ("other", 1),
    ],
)
def test_values_that_an_argument_can_not_have_are_refused_when_the_monitor_is_made(
    name: str, value: Any
) -> None:
    kind = ContractEvent(chain_id=1, address=ADDRESS, event_name=LOOKED_FOR, filters={name: value})
    [(field, words)] = kind.faults().items()
    assert field == "filters"
    assert name in words


def test_a_fault_names_the_field_that_has_it() -> None:
    made = ContractEvent(chain_id=1, address=ADDRESS, event_name="Transfer")
    assert list(made.faults()) == ["eventName"]
    made = ContractEvent(chain_id=1, address=ADDRESS, event_name="Transfer", abi=[UNREADABLE])
    assert list(made.faults()) == ["abi"]
    made = ContractEvent(
        chain_id=1, address=ADDRESS, event_name="Transfer", abi=[ENTRY], filters={"value": "5"}
    )
    assert made.faults() == {}
