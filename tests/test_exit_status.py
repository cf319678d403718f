"""A collector that cannot start says why in its last lines, without a traceback, and exits with 2."""

import os
import socket
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import asyncpg
import pytest

from shared.settings import PREFIX
from tests.ports import free_port

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[1]
KEY = b64encode(bytes(32)).decode()
OTHER_KEY = b64encode(bytes(31) + b"\1").decode()
COMMAND = "import sys; from shared.command import main; sys.exit(main(sys.argv[1:]))"


def start(directory: Path, database: str, **given: str) -> subprocess.CompletedProcess[str]:
    """A collector that is expected to end by itself."""
    settings = {
        "DATA_DIR": str(directory),
        "DATABASE_URL": database,
        "SECRET_KEY": KEY,
        "HTTP_LISTEN": f"127.0.0.1:{free_port()}",
        "GRPC_LISTEN": f"127.0.0.1:{free_port()}",
        "OTLP_LISTEN": f"127.0.0.1:{free_port()}",
    } | given
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return subprocess.run(
        [sys.executable, "-c", COMMAND, "collector"],
        cwd=ROOT,
        env=environment | {PREFIX + name: value for name, value in settings.items()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param({"BOOTSTRAP_TOKEN": "short"}, "TOCSIN_BOOTSTRAP_TOKEN", id="a short bootstrap token"),
        pytest.param({"SECRET_KEY": "not a key"}, "TOCSIN_SECRET_KEY", id="no secret key"),
        pytest.param({"DATABASE_URL": "mysql://127.0.0.1/x"}, "TOCSIN_DATABASE_URL", id="no PostgreSQL"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    given: dict[str, str], reason: str, tmp_path: Path, database_url: str
) -> None:
    ended = start(tmp_path, database_url, **given)

    assert ended.returncode == 2
    assert reason in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_database_that_another_key_encrypted_is_refused(tmp_path: Path, database_url: str) -> None:
    await _execute(
        database_url,
        "INSERT INTO secret_keys (kid, proof, created_at) VALUES ('0102030405060708', '\\x00', now())",
    )

    ended = start(tmp_path, database_url, SECRET_KEY=OTHER_KEY)

    assert ended.returncode == 2
    assert (
        "TOCSIN_SECRET_KEY lacks what this database is encrypted with: key 0102030405060708" in ended.stderr
    )
    assert "Traceback" not in ended.stderr


async def test_a_database_of_a_newer_tocsin_is_refused(tmp_path: Path, database_url: str) -> None:
    await _execute(
        database_url,
        "INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'of_the_future', now())",
    )

    ended = start(tmp_path, database_url)

    assert ended.returncode == 2
    assert "the database is at version 9999" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("name", ["HTTP_LISTEN", "GRPC_LISTEN", "OTLP_LISTEN"])
def test_a_port_that_is_taken_is_named_once_with_what_sets_another(
    name: str, tmp_path: Path, database_url: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        ended = start(tmp_path, database_url, **{name: taken})

    assert ended.returncode == 2
    lines = [line for line in ended.stderr.splitlines() if taken in line]
    assert len(lines) == 1, ended.stderr
    assert f"TOCSIN_{name}" in lines[0]
    assert "Traceback" not in ended.stderr


async def _execute(database: str, statement: str) -> None:
    connection = await asyncpg.connect(database)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
