"""``tocsin export``: writes a team's resources as a file for ``tocsin apply``, without secrets."""

import argparse
import sys
from typing import Final

import orjson

from collector.declarative.cli import connection
from collector.declarative.cli.text import text
from collector.platform.interruptible import run
from shared.command import begin_with
from shared.settings import DeclaredSettings

_HEAD: Final = (
    "# What the team has, for tocsin apply -f. Fields that are as they would be by themselves are left out.\n"
)


def main(argv: list[str]) -> int:
    """Print the resources, in the same order each time."""
    own, settings = begin_with(_parser(), DeclaredSettings, argv, connection.faults)
    sections = run(connection.export(settings, own.team))
    if own.json:
        sys.stdout.write(orjson.dumps(sections, option=orjson.OPT_INDENT_2).decode() + "\n")
    else:
        sys.stdout.write(text(sections, _HEAD))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin export", usage="tocsin export [--json] [--team TEAM]", allow_abbrev=False
    )
    parser.add_argument("--json", action="store_true", help="print JSON, which tocsin apply reads too")
    parser.add_argument("--team", help="a team's id or name; by default the first team")
    return parser
