"""Runs pytest on tests that a test wrote, with this repository's conftest."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(tests: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in *tests*, by the pytest.ini there."""
    plugins = ["-p", "tests.conftest", "-p", "no:schemathesis"]
    ini = str(tests / "pytest.ini")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rfE", *plugins, "-c", ini, *options, str(tests)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
