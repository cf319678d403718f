"""Parses a command line and reports all of its errors; argparse stops at the first."""

import argparse
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from shared.setting_table import TABLE

# The value of a switch without one.
BARE: Final = "true"
_NO_VALUE: Final = object()
_GROUP: Final = "settings, each a variable too: --data-dir is TOCSIN_DATA_DIR"


_describing: ContextVar[bool] = ContextVar("describing", default=False)


class Described(BaseException):
    """Raised instead of parsing, with the complete parser; no handler of errors may keep it."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__(parser.prog)
        self.parser = parser


@dataclass(frozen=True, slots=True)
class GivenArguments:
    """*own*: the command's own arguments, *flags*: the given settings, as texts."""

    own: argparse.Namespace
    flags: dict[str, str]
    faults: list[str]


def parse(
    parser: argparse.ArgumentParser, usual: Mapping[str, str | None], argv: Sequence[str]
) -> GivenArguments:
    """Parse *argv*: the arguments of *parser*, and settings by the names in *usual*, with their defaults.

    Exits after printing the help page if that is requested.
    """
    own = [action for action in parser._actions if action.dest != "help"]  # noqa: SLF001 - there is no public way
    parser.usage = _usage(parser)
    parser.exit_on_error = False
    settings = _add_settings(parser, usual)
    describe(parser)
    if {"-h", "--help"} & {*argv}:
        parser.print_help()
        raise SystemExit(0)
    readers = {action.dest: _lenient(action) for action in [*own, *settings]}
    faults: list[str] = []
    try:
        known, unknown = parser.parse_known_args(argv)
    except argparse.ArgumentError as error:
        # Of argparse's own errors, only a value for a switch remains; the value may be a secret.
        return GivenArguments(argparse.Namespace(), {}, [f"{error.argument_name}: takes no value"])
    faults.extend(_unknown(argv, unknown, [each.label for each in readers.values()]))
    values = vars(known)
    values |= {dest: readers[dest].read(value, faults) for dest, value in values.items()}
    flags = {action.dest: text for action in settings if (text := values.pop(action.dest, None))}
    return GivenArguments(known, flags, faults)


def parser_of(program: Callable[[list[str]], int]) -> argparse.ArgumentParser:
    """Return the parser of a command, which reads its arguments before it does anything else."""
    token = _describing.set(True)
    try:
        program([])
    except Described as described:
        return described.parser
    finally:
        _describing.reset(token)
    raise AssertionError("a command reads its arguments first")


def describe(parser: argparse.ArgumentParser) -> None:
    """Raise Described while `parser_of` waits for the parser of this command."""
    if _describing.get():
        raise Described(parser)


def meant(name: str, names: Iterable[str]) -> str:
    """A question that suggests the name probably meant; empty if none is similar."""
    bare = {each.lstrip("-"): each for each in names}
    close = difflib.get_close_matches(name.lstrip("-"), list(bare), n=1)
    return f"; did you mean {bare[close[0]]}?" if close else ""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Validates an argument as argparse does, but reports errors instead of exiting."""

    label: str
    type: Any
    choices: Sequence[Any] | None
    required: bool

    def read(self, value: Any, faults: list[str]) -> Any:
        if isinstance(value, list):
            return [self.read(item, faults) for item in value]
        if value is _NO_VALUE or (value is None and self.required):
            faults.append(f"{self.label}: {'is required' if value is None else 'needs a value'}")
            return None
        if not isinstance(value, str):
            return value
        try:
            value = self.type(value) if self.type is not None else value
        except (ValueError, argparse.ArgumentTypeError) as error:
            faults.append(f"{self.label}: {error}")
            return None
        if self.choices is not None and value not in self.choices:
            label = self.label if self.label.startswith("-") else value
            faults.append(f"{label}: must be {_either(self.choices)}")
        return value


def _lenient(action: argparse.Action) -> _Reader:
    """Let *action* accept any text or none, and return its validator."""
    choices = None if action.choices is None else [*action.choices]
    reader = _Reader(_label(action, choices), action.type, choices, action.required)
    action.type, action.choices, action.required = None, None, False
    if action.option_strings and action.nargs is None:
        action.nargs, action.const = "?", _NO_VALUE
    return reader


def _add_settings(parser: argparse.ArgumentParser, usual: Mapping[str, str | None]) -> list[argparse.Action]:
    group = parser.add_argument_group(_GROUP, argument_default=argparse.SUPPRESS)
    text = "a TOML file with settings; variables and flags override it"
    added = [group.add_argument("--config", metavar="FILE", help=text)]
    for name, default in usual.items():
        setting = TABLE[name]
        flag, text = f"--{name.replace('_', '-')}", setting.help + (f" ({default})" if default else "")
        if setting.switch:
            action = group.add_argument(flag, nargs="?", const=BARE, metavar="true|false", help=text)
        else:
            action = group.add_argument(flag, metavar="VALUE", help=text)
        added.append(action)
    return added


def _usage(parser: argparse.ArgumentParser) -> str:
    """The usage of *parser*, with a hint at the settings; listing all of them would fill the screen."""
    own = parser.usage or parser.format_usage().removeprefix("usage: ").replace("%", "%%").rstrip()
    return f"{own} [--SETTING VALUE ...]"


def _unknown(argv: Sequence[str], unknown: Sequence[str], flags: list[str]) -> Iterator[str]:
    """Report unknown arguments, except values after an unknown flag, which may be secrets."""
    flag = re.compile(r"-[^=]+")
    follows = {after for before, after in pairwise(argv) if before in unknown and flag.fullmatch(before)}
    for argument in unknown:
        name = argument.partition("=")[0]
        if argument.startswith("-"):
            yield f"{name}: no such setting{meant(name, flags)}"
        elif argument not in follows:
            yield f"{argument}: no such setting"


def _label(action: argparse.Action, choices: Sequence[Any] | None) -> str:
    if action.option_strings:
        return max(action.option_strings, key=len)
    return str(action.metavar or "|".join(map(str, choices or [action.dest])))


def _either(choices: Sequence[Any]) -> str:
    return str(choices[0]) if len(choices) == 1 else "one of " + ", ".join(map(str, choices))
