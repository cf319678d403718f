"""A probe without Web3 monitors loads nothing that only they need."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.races

ALONE = """
import sys
import probe.app
from probe.checks import Kept, prepare
from shared.kinds import load

def loaded():
    names = ("probe.web3", "shared.kinds.web3.abi", "eth_abi", "Crypto", "web3")
    return sorted(name for name in names if name in sys.modules)

prepare("http", load("http", {"url": "https://example.com/"}), Kept())
prepare("tls", load("tls", {"domain": "example.com"}), Kept())
print(loaded())
gas = {"chain": 1, "rpcUrl": "http://a.example.com/", "thresholds": {"high": 5}}
prepare("gas_price", load("gas_price", gas), Kept())
print(loaded())
"""


def test_what_web3_needs_is_loaded_with_the_first_such_monitor_and_no_more_than_that() -> None:
    process = subprocess.run(
        [sys.executable, "-c", ALONE], check=True, capture_output=True, text=True, timeout=60
    )
    assert process.stdout.splitlines() == ["[]", "['probe.web3']"]
