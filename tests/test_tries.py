"""The time limit of a test holds for each of its tries."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
HANGS = """
import threading

def test_it(tmp_path_factory):
    {first}
    threading.Event().wait(60)
"""
TRIED = "tried = tmp_path_factory.getbasetemp() / 'tried'; again = tried.exists(); tried.touch()"


@pytest.mark.parametrize(
    "first", ["pass", f"{TRIED}; assert again, 'lost a race'"], ids=["hangs", "fails and then hangs"]
)
def test_a_second_try_ends_at_its_limit(first: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "test_it.py").write_text(HANGS.format(first=first))

    ini = tmp_path / "pytest.ini"
    limits = ["--timeout=1", "--reruns=1"]

    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", str(ini), *limits, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )

    assert "1 failed, 1 rerun" in ended.stdout
    assert "Timeout (>1.0s)" in ended.stdout.partition("FAILURES")[2]
