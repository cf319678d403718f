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

from collector.storage import dump
from collector.verbs import migrate, operator
from shared.command import main
from tests.ports import free_port
from tests.test_shapes import ROOT, tree

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


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TOCSIN_SECRET_KEY", KEY)
    return monkeypatch


@pytest.mark.parametrize("argv", COMMANDS, ids=lambda argv: argv[0])
def test_it_gives_up_and_says_where_it_asked(
    argv: tuple[str, ...], settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (dump, migrate, operator):
        settings.setattr(module, "BRIEFLY_S", 0.3)
    port = free_port()
    settings.setenv("TOCSIN_DATABASE_URL", f"postgresql://user:SEEDED@127.0.0.1:{port}/x")

    assert main([*argv, "--log-level", "error"]) == 1

    said = capsys.readouterr().err
    assert said.startswith(f"tocsin: the database is away: 127.0.0.1:{port}: ")
    assert said.count("\n") == 1
    assert "SEEDED" not in said


def test_a_name_that_does_not_resolve_is_named(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.setattr(migrate, "BRIEFLY_S", 2.0)
    settings.setenv("TOCSIN_DATABASE_URL", "postgresql://user@db.invalid:5432/x")

    assert main(["migrate"]) == 1

    assert "the database is away: db.invalid:5432: " in capsys.readouterr().err


def test_a_file_is_applied_by_the_same_way(
    settings: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.setattr(operator, "BRIEFLY_S", 0.3)
    settings.setenv("TOCSIN_DATABASE_URL", f"postgresql://user@127.0.0.1:{free_port()}/x")
    Path("all.yaml").write_text("monitors: []\n")

    assert main(["apply", "-f", "all.yaml"]) == 1

    assert "tocsin: the database is away: " in capsys.readouterr().err


@contextmanager
def started(*argv: str, url: str = "") -> Iterator[subprocess.Popen[str]]:
    variables = {"TOCSIN_SECRET_KEY": KEY, "TOCSIN_DATABASE_URL": url} if url else {}
    with subprocess.Popen(
        argv, env=os.environ | variables, stderr=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
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
                _, said = it.communicate(timeout=60)

    assert re.fullmatch(r"tocsin: stopped before it was done(; nothing was changed)?\n", said)
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
        said = [line for line in it.stderr if not line.startswith("import time:")]
        it.wait(timeout=60)

    assert said == ["tocsin: stopped\n"]
    assert it.returncode == status


def test_no_command_runs_its_work_another_way() -> None:
    own = [
        path.name
        for path in (ROOT / "collector" / "verbs").glob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "asyncio.run"
    ]

    assert own == ["stopping.py"]
