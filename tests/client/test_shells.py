"""Completion in real shells, and manual pages that a strict reader of roff takes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from client import completion, manual
from client.output import age, duration, printable, width
from client.parsers import commands
from shared.clock import EPOCH
from shared.command import VERBS


def printed(program: object, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert program.main([*arguments]) == 0  # type: ignore[attr-defined]
    return capsys.readouterr().out


def test_every_command_reads_its_arguments_first_and_is_described() -> None:
    known = {command.verb: command for command in commands()}

    assert set(known) == set(VERBS)
    assert {"http", "tcp", "icmp"} <= set(known["check"].words)
    assert "--database-url" in {option.name for option in known["collector"].options}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("tocsin", "incid"), {"incidents"}),
        (("tocsin", "monitors", "--status", ""), {"up", "down", "paused"}),
        (("tocsin", "incidents", "ac"), {"ack"}),
        (("tocsin", "check", "htt"), {"http"}),
        (("tocsin", "apply", "--pru"), {"--prune"}),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, tuple) else "",
)
def test_bash_completes(
    words: tuple[str, ...], offered: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "completion"
    script.write_text(printed(completion, capsys, "bash"))
    listed = " ".join(f"'{word}'" for word in words)
    state = f"COMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}"
    program = f'source {script}; {state}; _tocsin; echo "${{COMPREPLY[@]}}"'

    ended = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)

    assert (set(ended.stdout.split()), ended.stderr) == (offered, "")


@pytest.mark.races
@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "tocsin.fish"
    script.write_text(printed(completion, capsys, "fish"))
    program = f'source {script}; complete -C "tocsin incid"; complete -C "tocsin monitors --status "'

    ended = subprocess.run(
        ["fish", "--no-config", "-c", program],
        capture_output=True, text=True, check=True, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip

    assert {line.split("\t")[0] for line in ended.stdout.splitlines()} == {
        "incidents",
        "up",
        "down",
        "paused",
    }


@pytest.mark.races
@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_tocsin").write_text(printed(completion, capsys, "zsh"))
    program = f"""
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell 'PS1=; fpath=({tmp_path} $fpath); autoload -U compinit; compinit -D -u; echo RE""ADY'
        zpty -r -m shell line '*READY*'
        zpty -w -n shell $'tocsin monitors --status pau\\t'
        zpty -r -m shell line '*paused*' && print found
        zpty -d shell
    """

    ended = subprocess.run(
        ["zsh", "-f", "-c", program], capture_output=True, text=True, timeout=60, check=False,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb"},
    )  # fmt: skip

    assert "found" in ended.stdout, ended.stderr


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_each_page_is_sound(verb: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = printed(manual, capsys, *([verb] if verb else []))

    assert page.startswith(f".TH TOCSIN{'-' + verb.upper() if verb else ''} 1 ")
    assert ".SH NAME" in page
    if shutil.which("mandoc"):
        (tmp_path / "page.1").write_text(page)
        ended = subprocess.run(
            ["mandoc", "-T", "lint", "-W", "warning", str(tmp_path / "page.1")],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert [line for line in ended.stdout.splitlines() if "missing date" not in line] == []


def test_durations_and_ages_are_in_their_two_largest_units() -> None:
    assert [duration(seconds) for seconds in (0, 59, 60, 3_905, 90_061, 86_400)] == [
        "0 s", "59 s", "1 min", "1 h 5 min", "1 d 1 h", "1 d"
    ]  # fmt: skip
    assert age("1969-12-31T23:58:00.000Z", EPOCH) == "2 min ago"
    assert age("1970-01-01T01:00:00.000Z", EPOCH) == "in 1 h"


def test_widths_are_those_of_a_terminal() -> None:
    assert [width(text) for text in ("abc", "日本", "e\u0301")] == [3, 4, 1]
    assert printable("a\x1b[31mb\nc\u202e") == "a [31mb c"
