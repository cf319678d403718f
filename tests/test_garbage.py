"""A socket that a test leaves open fails that test, also if only the garbage collector finds it."""

import re
from pathlib import Path

import pytest

from tests.inner_pytest import run

pytestmark = pytest.mark.races

INI = """
[pytest]
asyncio_default_fixture_loop_scope = function
filterwarnings = error
markers =
  fast
  races
"""
LEAKS = """
import socket

import pytest

class Knot:
    def __init__(self):
        self.itself, self.socket = self, socket.socket()

@pytest.fixture
def knot():
    return Knot()

def test_clean_before():
    pass

def test_leaving_its_own():
    Knot()

def test_clean_between():
    pass

def test_leaving_a_fixture_s(knot):
    pass

def test_clean_after():
    pass
"""


def test_what_is_left_open_fails_who_left_it(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(LEAKS)

    ended = run(tmp_path)

    assert set(re.findall(r"^ERROR .*::test_(\w+)", ended.stdout, re.MULTILINE)) == {
        "leaving_its_own",
        "leaving_a_fixture_s",
    }
    assert "5 passed, 2 errors" in ended.stdout
