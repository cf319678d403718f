"""The command: what it answers when it is asked for what it has not."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from shared import __version__
from shared.command import VERBS, main

ROOT = Path(__file__).parents[1]


def test_it_tells_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tocsin {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"], ["help"]])
def test_its_help_names_each_command(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 0

    text = capsys.readouterr().out
    assert all(f"  {verb} " in text for verb in VERBS)


def test_a_misspelt_command_is_met_with_what_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["colector"]) == 2
    assert "did you mean collector?" in capsys.readouterr().err


def test_bad_settings_are_told_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collector", "--http-listen", "8080", "--plan", "gold"]) == 2

    text = capsys.readouterr().err
    assert "TOCSIN_HTTP_LISTEN: must be host:port" in text
    assert "TOCSIN_PLAN: must be one of" in text
    assert "Traceback" not in text


def test_grpc_says_nothing_by_itself_of_a_port_that_is_taken() -> None:
    program = """
import sys
from shared.settings import quiet_libraries
quiet_libraries()
import grpc
from concurrent.futures import ThreadPoolExecutor
server = grpc.server(ThreadPoolExecutor(1), options=[("grpc.so_reuseport", 0)])
try:
    server.add_insecure_port(sys.argv[1])
except RuntimeError:
    print("refused")
"""
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        ended = subprocess.run(
            [sys.executable, "-c", program, taken], capture_output=True, text=True, check=True, cwd=ROOT
        )

    assert (ended.stdout, ended.stderr) == ("refused\n", "")


def told(argv: list[str], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is said of each thing that cannot be used, with status 2."""
    assert main(argv) == 2
    first, *faults, last = capsys.readouterr().err.splitlines()
    assert (first, last) == ("tocsin: settings that cannot be used:", f"see tocsin {argv[0]} --help")
    return [fault.strip() for fault in faults]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings."""
    for name in [name for name in os.environ if name.startswith("TOCSIN_")]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("bare")
def test_a_collector_hears_of_its_database_and_key_beside_all_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert [line.partition(":")[0] for line in told(["collector", "--plan", "gold"], capsys)] == [
        "TOCSIN_PLAN",
        "TOCSIN_DATABASE_URL",
        "TOCSIN_SECRET_KEY",
    ]


@pytest.mark.usefixtures("bare")
def test_a_probe_hears_of_its_token_beside_all_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    argv = ["probe", "--data-dir", str(tmp_path), "--location", "EU", "--collector", "nowhere"]

    assert [line.partition(":")[0] for line in told(argv, capsys)] == [
        "TOCSIN_COLLECTOR",
        "TOCSIN_LOCATION",
        "TOCSIN_JOIN_TOKEN",
    ]


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("argv", "faults"),
    [
        (
            ["token", "make", "--permission", "root", "--expires-in", "soon", "--log-level", "loud"],
            ["make", "--name", "--permission", "--expires-in", "TOCSIN_LOG_LEVEL"],
        ),
        (["token", "create", "--name"], ["--permission", "--name"]),
        (["team"], ["create", "NAME", "--plan"]),
        (
            ["team", "create", " ", "--plan", "gold", "--admin-email", "x"],
            ["NAME", "--plan", "--admin-email"],
        ),
        (["user", "passwd"], ["EMAIL"]),
        (
            ["probe-token", "create", "--location", "EU", "--uses", "0", "--ttl", "1"],
            ["--location", "--uses", "--ttl"],
        ),
        (["probes"], ["list|drain|undrain|revoke"]),
        (["probes", "drain"], ["PROBE"]),
        (["probes", "list", "x"], ["PROBE"]),
        (
            ["status-page", "export", "x", "--url", "x", "--logo", "x", "--language", "xx"],
            ["DIRECTORY", "--url", "--logo", "--language"],
        ),
        (["migrate", "now", "--data-dir"], ["now", "--data-dir"]),
        (["migrate", "--no-such=1", "stray"], ["--no-such", "stray"]),
        (["user", "passwd", "x", "--generate=yes"], ["--generate"]),
        (["up", "--http-listen", "80", "--workers"], ["--workers", "TOCSIN_HTTP_LISTEN"]),
    ],
    ids=" ".join,
)
def test_all_that_a_command_cannot_use_is_told_at_once(
    argv: list[str], faults: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert sorted(line.partition(":")[0] for line in told(argv, capsys)) == sorted(faults)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("argument", [["--secrt-key", "SEEDED"], ["--secrt-key=SEEDED"]])
def test_what_follows_a_misspelt_flag_is_not_repeated(
    argument: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    [fault] = told(["token", "create", "--name", "x", "--permission", "admin", *argument], capsys)

    assert fault == "--secrt-key: no such setting; did you mean --secret-key?"


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_command_begins_with_how_it_is_called(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])

    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: tocsin {verb} ")


def test_a_setting_before_a_command_s_own_words_is_a_setting(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    argv = ["team", "--data-dir", str(tmp_path), "create", "Operations", "--plan", "gold"]

    assert told(argv, capsys) == ["--plan: must be one of free, developer, pro, enterprise"]
