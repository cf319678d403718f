"""The README's first page, its commands run word for word but for the ports."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.e2e.product import running
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

ROOT = Path(__file__).parents[2]


def commands(product_port: int, data_dir: Path) -> str:
    """The shell blocks of "A target breaks", for this product and free ports."""
    page = (ROOT / "README.md").read_text()
    section = page.split("## A target breaks")[1].split("\n## ")[0]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", section, re.DOTALL))
    for written, real in {
        "127.0.0.1:8080": f"127.0.0.1:{product_port}",
        "var/admin-token": str(data_dir / "admin-token"),
        "9000": str(free_port()),
        "9001": str(free_port()),
    }.items():
        assert written in script
        script = script.replace(written, real)
    return script


async def test_the_first_page_does_what_it_says(tmp_path: Path) -> None:
    async with running(tmp_path, "--demo") as (product, _):
        script = commands(product.http, product.data_dir)
        done = subprocess.run(
            ["bash", "-e", "-c", script], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done
        text = done.stdout
        assert '"role":"admin"' in text
        assert '"statusCode":200' in text
        assert '"status":"open"' in text
        assert "connect: refused by 127.0.0.1" in text
        assert '"status":"resolved"' in text
        assert re.search(r"Z monitor\.down: my first target\n", text)
        assert re.search(r"Z monitor\.up: my first target\n", text)
