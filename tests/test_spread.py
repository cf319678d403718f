"""Slow tests are spread among the others, but those of a module that share what is set up stay together."""

from pathlib import Path

import pytest

from tests.inner_pytest import run

pytestmark = pytest.mark.races

SLOW = """
import pytest

pytestmark = [pytest.mark.slow, {more}]

@pytest.fixture(scope="module")
def costly():
    with open({made!r}, "a") as file:
        file.write("made\\n")

@pytest.mark.parametrize("n", range(4))
def test_slow(n, costly):
    pass
"""
OTHERS = """
import pytest

@pytest.mark.parametrize("n", range(40))
def test_quick(n):
    pass
"""


@pytest.mark.parametrize(
    ("more", "times"), [("pytest.mark.shares_setup", 1), ("pytest.mark.races", 4)], ids=["together", "apart"]
)
def test_what_a_module_shares_is_made_once(more: str, times: int, tmp_path: Path) -> None:
    made = tmp_path / "made"
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  fast\n  races\n  shares_setup\n  slow\n")
    (tmp_path / "test_slow.py").write_text(SLOW.format(more=more, made=str(made)))
    (tmp_path / "test_others.py").write_text(OTHERS)

    ended = run(tmp_path, "-n", "1")

    assert ended.returncode == 0, ended.stdout
    assert made.read_text().split() == ["made"] * times
