"""What each command takes: its arguments, settings and words, from the parsers themselves."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field

from shared.arguments import parser_of
from shared.command import VERBS, load

_HELP = frozenset({"-h", "--help"})


@dataclass(frozen=True, slots=True)
class Option:
    """A flag: its names, its help, the values that it takes; *bare*: it takes none."""

    names: tuple[str, ...]
    help: str
    values: tuple[str, ...]
    metavar: str
    bare: bool

    @property
    def name(self) -> str:
        return max(self.names, key=len)


@dataclass(slots=True)
class CommandParser:
    """A command with its words, which stand without a flag, and its flags."""

    verb: str
    parser: argparse.ArgumentParser
    words: dict[str, str] = field(default_factory=dict)
    options: list[Option] = field(default_factory=list)


def commands() -> Iterator[CommandParser]:
    """Yield each command that is installed here."""
    for verb in VERBS:
        if (known := command(verb)) is not None:
            yield known


def command(verb: str) -> CommandParser | None:
    """Return a command by its name; None if there is none here."""
    try:
        program = load(verb)
    except (KeyError, ImportError):
        return None
    made = CommandParser(verb, parser_of(program))
    _collect(made, made.parser, set())
    return made


def _collect(made: CommandParser, parser: argparse.ArgumentParser, seen: set[str]) -> None:
    for action in parser._actions:  # noqa: SLF001 - there is no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
            for name, below in action.choices.items():
                made.words[name] = helps.get(name, "")
                _collect(made, below, seen)
        elif not action.option_strings:
            made.words |= {str(choice): "" for choice in action.choices or ()}
        elif not seen & {*action.option_strings}:
            seen |= {*action.option_strings}
            made.options.append(_option(action))


def _option(action: argparse.Action) -> Option:
    return Option(
        tuple(action.option_strings),
        (action.help or "").replace("%%", "%") if action.help != argparse.SUPPRESS else "",
        tuple(map(str, action.choices or ())),
        str(action.metavar or action.dest.upper()),
        bare=action.nargs == 0 or {*action.option_strings} <= _HELP,
    )
