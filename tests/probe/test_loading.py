"""A probe loads a type of check, and the fields of its kind, with the first monitor of that type."""

import subprocess
import sys

import pytest

from probe.checks import CHECKS, LASTING

pytestmark = pytest.mark.races

LOADED = """
import sys
import probe.app
from probe.checks import Kept, prepare
from shared.kinds import load

def loaded():
    kinds = {name for name in sys.modules if name.startswith(("probe.checks.", "shared.kinds."))}
    print(sorted(kinds - {"probe.checks._check", "shared.kinds.fields", "shared.kinds.tls"}))

loaded()
prepare("icmp", load("icmp", {"host": "192.0.2.1"}), Kept())
loaded()
"""
IMPORTED = """
from importlib import import_module
import sys
import_module(sys.argv[1]).prepare
"""


def output(*arguments: str) -> list[str]:
    """The lines that a Python of its own prints."""
    command = [sys.executable, "-c", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()


def test_a_check_is_loaded_with_the_first_monitor_of_its_type() -> None:
    assert output(LOADED) == ["[]", "['probe.checks.icmp', 'shared.kinds.icmp']"]


@pytest.mark.parametrize("type_", sorted({*CHECKS, *LASTING}))
def test_each_type_has_a_module_that_loads_by_itself(type_: str) -> None:
    folder = "probe.checks" if type_ in CHECKS else "probe.web3"
    assert output(IMPORTED, f"{folder}.{type_.removeprefix('web3_')}") == []
