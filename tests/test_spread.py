"""Slow tests are spread among the others, but those of a module that share what is set up stay together."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.races

ROOT = Path(__file__).parent.parent
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
    made, ini = tmp_path / "made", tmp_path / "pytest.ini"
    ini.write_text("[pytest]\nmarkers =\n  fast\n  races\n  shares_setup\n  slow\n")
    (tmp_path / "test_slow.py").write_text(SLOW.format(more=more, made=str(made)))
    (tmp_path / "test_others.py").write_text(OTHERS)

    subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-p", "tests.conftest", "-c", str(ini), str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )

    assert made.read_text().split() == ["made"] * times
