"""Second tries: only for tests that race real time, each with its own time limit, and few in a run."""

import re
from pathlib import Path

import pytest

from tests.inner_pytest import run

pytestmark = pytest.mark.races

HANGS = """
import threading

def test_it(tmp_path_factory):
    {first}
    threading.Event().wait(60)
"""
LOSES = """
import pytest

@pytest.mark.races
def test_that_races(tmp_path_factory):
    {first}
    assert again

def test_that_does_not():
    assert False
"""
INI = "[pytest]\nmarkers =\n  fast\n  races\n"
# A line of pytest's summary, whatever it leaves of the path and of the reason in the width that it has.
FAILED = re.compile(r"^FAILED .*test_that_(\w+)", re.MULTILINE)
TRIED = "tried = tmp_path_factory.getbasetemp() / 'tried'; again = tried.exists(); tried.touch()"


@pytest.mark.parametrize(
    "first", ["pass", f"{TRIED}; assert again, 'lost a race'"], ids=["hangs", "fails and then hangs"]
)
def test_a_second_try_ends_at_its_limit(first: str, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(HANGS.format(first=first))

    ended = run(tmp_path, "--timeout=1", "--reruns=1")

    assert "1 failed, 1 rerun" in ended.stdout
    assert "Timeout (>1.0s)" in ended.stdout.partition("FAILURES")[2]


def test_only_a_test_that_races_gets_a_second_try(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(LOSES.format(first=TRIED))

    ended = run(tmp_path, "--second-tries=1")

    assert "1 failed, 1 passed, 1 rerun" in ended.stdout
    assert FAILED.findall(ended.stdout) == ["does_not"]


@pytest.mark.parametrize(("most", "code"), [(1, 0), (0, 1)])
def test_more_second_tries_than_the_limit_fail_the_run(most: int, code: int, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(INI)
    (tmp_path / "test_it.py").write_text(LOSES.format(first=TRIED).partition("def test_that_does_not")[0])

    ended = run(tmp_path, f"--second-tries={most}")

    assert ended.returncode == code
    assert "1 passed, 1 rerun" in ended.stdout
    assert ("second tries: 1 (limit 0)" in ended.stdout) == (code == 1)
