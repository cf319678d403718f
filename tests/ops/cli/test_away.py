"""A command whose database is away ends with one line by itself, and one that is stopped does, too."""

import ast
import base64
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ports import free_port
from tests.test_shapes import ROOT, tree

pytestmark = pytest.mark.races

KEY = base64.b64encode(bytes(32)).decode()
COMMANDS = (
    ("migrate",),
    ("token", "create", "--name", "n", "--permission", "admin"),
    ("team", "create", "Other", "--plan", "pro"),
    ("user", "passwd", "a@example.com", "--generate"),
    ("probe-token", "create", "--location", "eu"),
    ("probes", "list"),
    ("export",),
    ("status-page", "export", "page", "copy"),
    ("backup", "backup.gz"),
)


# As `tocsin`, but so much less patient that a test need not wait.
SOON = """
import sys
from collector.ops.storage import dump
from collector.ops.cli import migrate
from collector.platform import operator
from shared.command import main
dump.BRIEFLY_S = migrate.BRIEFLY_S = operator.BRIEFLY_S = float(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""


def away(url: str, directory: Path, *argv: str, patience_s: float = 0.3) -> str:
    """What a command says that finds no database at *url*."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}
    done = subprocess.run(
        [sys.executable, "-c", SOON, str(patience_s), *argv],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=directory,
        env=kept | {"PYTHONPATH": str(ROOT), "TOCSIN_SECRET_KEY": KEY, "TOCSIN_DATABASE_URL": url},
    )
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: argv[0])
def test_it_gives_up_and_says_where_it_asked(argv: tuple[str, ...], tmp_path: Path) -> None:
    port = free_port()

    text = away(f"postgresql://user:SEEDED@127.0.0.1:{port}/x", tmp_path, *argv, "--log-level", "error")

    assert text.startswith(f"tocsin: the database is away: 127.0.0.1:{port}: ")
    assert text.count("\n") == 1
    assert "SEEDED" not in text


def test_a_name_that_does_not_resolve_is_named(tmp_path: Path) -> None:
    text = away("postgresql://user@db.invalid:5432/x", tmp_path, "migrate", patience_s=2.0)

    assert "the database is away: db.invalid:5432: " in text


def test_a_file_is_applied_by_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text("monitors: []\n")

    text = away(f"postgresql://user@127.0.0.1:{free_port()}/x", tmp_path, "apply", "-f", "all.yaml")

    assert "tocsin: the database is away: " in text


@contextmanager
def _inheriting_signals() -> Iterator[None]:
    """A shell ignores SIGINT in its background, and what is ignored stays so in processes started there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def started(*argv: str, url: str = "") -> Iterator[subprocess.Popen[str]]:
    variables = {"TOCSIN_SECRET_KEY": KEY, "TOCSIN_DATABASE_URL": url} if url else {}
    with _inheriting_signals():
        process = subprocess.Popen(
            argv, env=os.environ | variables, stderr=subprocess.PIPE, text=True, cwd=ROOT
        )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("argv", [COMMANDS[0], COMMANDS[1], COMMANDS[8]], ids=lambda argv: argv[0])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_one_line(argv: tuple[str, ...], number: signal.Signals, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mute.settimeout(60)
        url = f"postgresql://user@127.0.0.1:{mute.getsockname()[1]}/x"
        with started(sys.executable, "-m", "shared.entry", *argv, "--data-dir", str(tmp_path), url=url) as it:
            connection, _ = mute.accept()
            with connection:
                it.send_signal(number)
                _, text = it.communicate(timeout=60)

    assert re.fullmatch(r"tocsin: stopped before it was done(; nothing was changed)?\n", text)
    assert it.returncode == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("verb", "module", "status"),
    [("up", "structlog", 0), ("up", "asyncpg", 0), ("check", "shared.kinds.http", 1)],
)
def test_a_signal_while_it_is_loaded_ends_it_in_one_line(
    verb: str, module: str, status: int, number: signal.Signals, tmp_path: Path
) -> None:
    argv = [sys.executable, "-X", "importtime", "-m", "shared.entry", verb, "--data-dir", str(tmp_path)]
    with started(*argv) as it:
        assert it.stderr is not None
        loaded = (line.rpartition("|")[2].strip() for line in it.stderr)
        assert module in loaded, "it ended before that"
        it.send_signal(number)
        lines = [line for line in it.stderr if not line.startswith("import time:")]
        it.wait(timeout=60)

    assert lines == ["tocsin: stopped\n"]
    assert it.returncode == status


def test_no_command_runs_its_work_another_way() -> None:
    own = [
        path.name
        for path in (ROOT / "collector").rglob("*.py")
        if path.parent.name == "cli" or path.name in {"cli.py", "interruptible.py", "operator.py"}
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "asyncio.run"
    ]

    assert own == ["interruptible.py"]
