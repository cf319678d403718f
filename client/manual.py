"""``tocsin man``: prints the manual page of a command, for man -l or a folder of manual pages."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator

from client.parsers import CommandParser, Option, command
from shared import __version__
from shared.arguments import describe, meant
from shared.command import VERBS
from shared.errors import BadSettings
from shared.settings import PREFIX


def main(argv: list[str]) -> int:
    """Print the page of a command, or the one that lists all of them."""
    parser = _parser()
    describe(parser)
    own = parser.parse_args(argv)
    if own.command is None:
        lines = _overview()
    elif (found := command(own.command)) is not None:
        lines = _page(found)
    else:
        raise BadSettings(f"{own.command}: no such command here{meant(own.command, VERBS)}")
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin man",
        usage="tocsin man [COMMAND]",
        epilog="To read a page: tocsin man apply | man -l -",
        allow_abbrev=False,
    )
    parser.add_argument(
        "command", nargs="?", metavar="COMMAND", help="the command; without it, a list of all"
    )
    return parser


def _overview() -> Iterator[str]:
    yield from _head("tocsin", "uptime monitoring, incidents, alerting and status pages")
    yield ".SH SYNOPSIS"
    yield f".B {_text('tocsin')}"
    yield ".I COMMAND"
    yield _text("[--flag VALUE ...]")
    yield ".SH COMMANDS"
    for verb, text in VERBS.items():
        yield ".TP"
        yield f".BR {_text(f'tocsin-{verb}')} (1)"
        yield _text(text)
    yield from _environment()


def _page(page: CommandParser) -> Iterator[str]:
    yield from _head(f"tocsin-{page.verb}", VERBS[page.verb])
    yield ".SH SYNOPSIS"
    yield ".nf"
    yield from (_text(line.strip()) for line in _synopsis(page))
    yield ".fi"
    settings = {action.dest for group in page.parser._action_groups[2:] for action in group._group_actions}  # noqa: SLF001
    own = [option for option in page.options if option.name[2:].replace("-", "_") not in settings]
    if any(page.words.values()):
        yield ".SH TYPES"
        yield from _listed(page.words.items())
    yield ".SH OPTIONS"
    yield from _listed((_flag(option), option.help) for option in own)
    if settings:
        yield ".SH SETTINGS"
        yield from _listed((_flag(option), option.help) for option in page.options if option not in own)
    if page.parser.epilog:
        yield ".SH NOTES"
        yield _text(page.parser.epilog)
    yield from _environment()


def _synopsis(page: CommandParser) -> list[str]:
    """Return the lines of the usage."""
    usage = page.parser.usage or page.parser.format_usage().removeprefix("usage: ")
    return usage.replace("%%", "%").strip().splitlines()


def _head(name: str, text: str) -> Iterator[str]:
    yield f'.TH {name.upper()} 1 "" "Tocsin {__version__}"'
    yield ".SH NAME"
    yield f"{_text(name)} \\- {_text(text)}"


def _environment() -> Iterator[str]:
    yield ".SH ENVIRONMENT"
    yield _text(f"Each setting is a variable, too: --data-dir is {PREFIX}DATA_DIR. Flags win over variables.")


def _listed(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, text in items:
        yield ".TP"
        yield f"\\fB{_text(name)}\\fR"
        yield _text(text or name)


def _flag(option: Option) -> str:
    names = ", ".join(option.names)
    if option.bare:
        return names
    return f"{names} {'|'.join(option.values) or option.metavar}"


def _text(text: str) -> str:
    """Return *text* with what roff would read as its own escaped."""
    escaped = re.sub(r"\s+", " ", text).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped[:1] in {".", "'"} else escaped
