"""The pages that are followed from top to bottom, each in one shell: the first hour, tutorials, a move.

Every command and every YAML of theirs runs word for word but for ports and hosts. `.ci/bare` follows the
first hour once more, after `make run` in a clean clone, as an ordinary user.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import aiohttp
import asyncpg
import pytest
import pytest_asyncio

from tests import page_script
from tests.e2e.product import Caller, Product, running
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(480), pytest.mark.shares_setup]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = DOCS / "tutorials"
SERVER = "127.0.0.1:8080"
MONITOR: dict[str, Any] = {
    "name": "Shop",
    "type": "http",
    "config": {"url": "https://shop.example.com/", "headers": {"X-Key": "secret of the shop"}},
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def product(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    async with running(tmp_path_factory.mktemp("followed"), "--demo") as (product, _):
        yield product


def clone_like(folder: Path, product: Product) -> Path:
    """A directory that has what pages name of a clone after ``make run``."""
    here = folder / "clone"
    here.mkdir()
    (here / "deploy").symlink_to(ROOT / "deploy")
    (here / "var").symlink_to(product.data_dir)
    (here / ".venv" / "bin").mkdir(parents=True)
    command = here / ".venv" / "bin" / "tocsin"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m shared.command "$@"\n')
    command.chmod(0o755)
    return here


async def follow(page: Path, product: Product, here: Path, **more: str) -> str:
    """Run the page's commands; everything that they print. *more*: what else is replaced."""
    server = {SERVER: f"127.0.0.1:{product.http}"} if SERVER in page.read_text() else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN")}
    variables = {
        "PATH": f"{here / '.venv' / 'bin'}:{kept['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "TOCSIN_DATA_DIR": str(product.data_dir),
        "TOCSIN": f"{product.url}/v1",
        "AUTH": f"Authorization: Bearer {product.token}",
    }
    process = await asyncio.create_subprocess_exec(
        "bash", "-c", page_script.script(page, server | more),
        cwd=here, env=kept | variables, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_first_hour(product: Product, tmp_path: Path) -> None:
    text = await follow(
        DOCS / "getting-started.md",
        product,
        clone_like(tmp_path, product),
        **{"9000": str(free_port()), "9001": str(free_port())},
    )

    assert '"role":"admin"' in text
    assert "UP" in text
    assert '"statusCode":200' in text
    assert "connect: refused by 127.0.0.1" in text
    assert '"quorum"' in text
    assert '"status":"acknowledged"' in text
    assert '"status":"resolved"' in text
    assert re.search(r"Z monitor\.down: my first target\n", text)
    assert re.search(r"Z monitor\.up: my first target\n", text)
    assert '"slug":"first-hour"' in text
    assert "nothing to do" in text
    assert "rows of" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_a_status_page_for_customers(product: Product, tmp_path: Path) -> None:
    text = await follow(TUTORIALS / "customer-status-page.md", product, clone_like(tmp_path, product))

    assert "Orders are slow" in text
    assert "<title>Example shop" in text
    assert "index.html" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_probes_in_three_regions(product: Product, tmp_path: Path) -> None:
    text = await follow(
        TUTORIALS / "three-regions.md",
        product,
        clone_like(tmp_path, product),
        **{"collector.example.com:7070": f"127.0.0.1:{product.grpc}"},
    )

    assert {"frankfurt", "virginia", "singapore"} <= {*re.findall(r"\w+", text)}
    assert "undrained" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_configuration_as_code_in_ci(product: Product, tmp_path: Path) -> None:
    here = clone_like(tmp_path, product)
    text = await follow(TUTORIALS / "configuration-in-ci.md", product, here)

    assert "+ monitor Shop API" in text
    assert "nothing to do" in text
    assert "key-of-the-shop" not in text
    assert "key-of-the-shop" not in (here / "exported.yaml").read_text()


@pytest.mark.asyncio(loop_scope="module")
async def test_from_uptime_kuma(product: Product, tmp_path: Path) -> None:
    text = await follow(TUTORIALS / "from-uptime-kuma.md", product, clone_like(tmp_path, product))

    assert "+ monitor Nightly backup" in text
    assert '"ok":true' in text


def test_every_tutorial_is_followed() -> None:
    followed = set(re.findall(r'TUTORIALS / "([\w-]+\.md)"', Path(__file__).read_text()))
    assert {page.name for page in TUTORIALS.glob("*.md")} == followed


@pytest_asyncio.fixture(loop_scope="module")
async def own_database(server_url: str) -> AsyncIterator[str]:
    """What the page's SQL makes: a database of a role that is no superuser. Its owner's URL."""
    name = f"tocsin_{uuid4().hex}"
    [sql] = re.findall(
        r"^```sql\n(.*?)^```", (DOCS / "moving-the-database.md").read_text(), re.DOTALL | re.MULTILINE
    )
    admin = await asyncpg.connect(server_url)
    try:
        for statement in sql.replace("tocsin", name).splitlines():
            await admin.execute(statement)
        server = urlsplit(server_url)
        place = server.netloc.rpartition("@")[2]
        yield urlunsplit(server._replace(netloc=f"{name}:secret@{place}", path=f"/{name}"))
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.execute(f"DROP ROLE {name}")
    finally:
        await admin.close()


@pytest.mark.asyncio(loop_scope="module")
async def test_the_database_moves_to_another_postgresql_and_back(own_database: str, tmp_path: Path) -> None:
    """What was made before is there in the end, its secrets open, and the service starts from it."""
    (tmp_path / "again").mkdir()
    async with running(tmp_path) as (product, caller):
        made = await caller.made("/v1/monitors", MONITOR)
        token = product.token
    here = clone_like(tmp_path, product)
    (tmp_path / "backups").mkdir()
    await follow(
        DOCS / "moving-the-database.md",
        product,
        here,
        **{
            "/srv/tocsin-again": f"{tmp_path}/again/var",
            "/srv/tocsin": str(product.data_dir),
            "/backups/": f"{tmp_path}/backups/",
            "postgresql://tocsin:secret@db.example.com/tocsin": own_database,
        },
    )

    moved = Product(tmp_path / "again" / "var", {})
    moved.start()
    try:
        await moved.ready()
        async with aiohttp.ClientSession() as session:
            shown = await Caller(moved, session, token).got(f"/v1/monitors/{made['id']}")
    finally:
        assert moved.stop() == 0
    assert shown["config"]["headers"] == MONITOR["config"]["headers"]
