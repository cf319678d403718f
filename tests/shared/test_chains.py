"""Names of chains: those that people use, and ids as numbers or text."""

import pytest

from shared.kinds.web3.chains import CHAINS, chain_of, is_chain


@pytest.mark.parametrize(
    ("named", "id_"),
    [
        ("ethereum", 1),
        ("Mainnet", 1),
        (" eth ", 1),
        ("op", 10),
        ("bnb", 56),
        ("xdai", 100),
        ("matic", 137),
        ("arb", 42_161),
        ("avax", 43_114),
        (8_453, 8_453),
        ("8453", 8_453),
        ("0x2105", 8_453),
        (31_337, 31_337),
    ],
)
def test_a_chain_is_known_by_its_names_and_its_id(named: str | int, id_: int) -> None:
    assert chain_of(named).id == id_


@pytest.mark.parametrize("named", ["", "etherium", 0, -1, "1.0", "1e3", "0xzz", 2**63, "--1"])
def test_what_is_neither_name_nor_id_is_no_chain(named: str | int) -> None:
    assert not is_chain(named)


def test_each_chain_is_the_same_by_name_and_by_id() -> None:
    assert len({chain.id for chain in CHAINS.values()}) == len(CHAINS)
    for name, chain in CHAINS.items():
        assert chain_of(name) == chain_of(chain.id) == chain_of(str(chain.id)) == chain
