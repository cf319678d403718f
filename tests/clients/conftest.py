"""The client libraries, built once, and a server for them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.http.fixtures import api, keyring, made, module_api, team

__all__ = ["api", "keyring", "made", "module_api", "team"]

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def python_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sources of tocsin-client as `make clients` builds them, importable."""
    folder = built(tmp_path_factory.mktemp("python"), "python")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "tocsin_client"]:
        del sys.modules[name]


def built(folder: Path, language: str) -> Path:
    """Return *folder* with the package of a language in it."""
    done = subprocess.run(
        [sys.executable, ROOT / "clients" / "build.py", language, folder],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
