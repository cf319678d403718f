"""A run leaves out the tests that passed in another one, and no others."""

import re
from pathlib import Path

import pytest

from tests.inner_pytest import run

pytestmark = pytest.mark.races

TESTS = """
import pytest

@pytest.fixture
def broken_at_its_end():
    yield
    raise ValueError

@pytest.mark.parametrize("name", ["a b", "c::d", "[e]", "\\u00e9\\n"])
def test_passes(name):
    pass

def test_fails():
    assert False

def test_is_skipped():
    pytest.skip("no such program here")

@pytest.mark.xfail
def test_fails_as_expected():
    assert False

def test_passes_and_then_fails(broken_at_its_end):
    pass
"""


@pytest.mark.parametrize("workers", ["0", "2"])
def test_only_what_passed_is_left_out(workers: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  fast\n  races\n")
    (tmp_path / "test_some.py").write_text(TESTS)
    passed, plugin = tmp_path / "passed", ("-p", "tests.passed", "-n", workers)
    run(tmp_path, *plugin, f"--list-passed={passed}")
    assert len(passed.read_text().splitlines()) == 4

    again = run(tmp_path, *plugin, f"--leave-out={passed}", "-rA")

    assert "test_passes[" not in again.stdout
    outcomes = re.findall(r"1 (failed|passed|skipped|xfailed|error)\b", again.stdout.splitlines()[-1])
    assert outcomes == ["failed", "passed", "skipped", "xfailed", "error"], again.stdout
