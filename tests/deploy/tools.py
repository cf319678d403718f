"""The programs that check deployments; `make tools` installs them."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

DEPLOY: Final = Path(__file__).parents[2] / "deploy"
PLACE: Final = Path(__file__).parents[2] / ".tools" / "deploy" / "bin"

needed: Final = pytest.mark.skipif(
    not (PLACE / "kubernetes-validate").exists(),
    reason="needs the tools of deployments: `make tools` installs them",
)


def run(program: str, *arguments: str | Path, check: bool = True) -> str:
    """What the program prints; with *check* it must succeed."""
    done = subprocess.run(
        [PLACE / program, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0 or not check, done.stdout
    return done.stdout
