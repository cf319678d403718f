"""The command: what it answers when it is asked for what it has not."""

import pytest

from shared import __version__
from shared.command import VERBS, main


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
