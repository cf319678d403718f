"""``tocsin completion``: prints a script for a shell that completes commands, words, flags and values."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from client.parsers import CommandParser, Option, commands
from shared.arguments import describe
from shared.command import VERBS

_FILES: Final = frozenset({"FILE", "DIRECTORY", "FOLDER"})


def main(argv: list[str]) -> int:
    """Print the script for a shell."""
    parser = _parser()
    describe(parser)
    own = parser.parse_args(argv)
    sys.stdout.write("\n".join([*_SHELLS[own.shell](list(commands())), ""]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tocsin completion",
        usage="tocsin completion bash | zsh | fish",
        epilog="bash: source <(tocsin completion bash); zsh: a file _tocsin in a folder of $fpath; "
        "fish: ~/.config/fish/completions/tocsin.fish",
        allow_abbrev=False,
    )
    parser.add_argument("shell", choices=list(_SHELLS), help="the shell")
    return parser


def _bash(known: Sequence[CommandParser]) -> Iterator[str]:
    yield "# bash completion of tocsin"
    yield "_tocsin() {"
    yield '    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=""'
    yield '    if [ "$COMP_CWORD" -eq 1 ]; then'
    yield f'        words="{" ".join(each.verb for each in known)}"'
    yield "    else"
    yield '        case "${COMP_WORDS[1]} $before" in'
    for each in known:
        for option in each.options:
            if not option.bare:
                names = "|".join(f'"{each.verb} {name}"' for name in option.names)
                yield f'            {names}) words="{" ".join(option.values)}" ;;'
    yield "            *)"
    yield '                case "${COMP_WORDS[1]}" in'
    for each in known:
        words = [*each.words, *(option.name for option in each.options)]
        yield f'                    {each.verb}) words="{" ".join(words)}" ;;'
    yield "                esac ;;"
    yield "        esac"
    yield "    fi"
    yield '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")'
    yield "}"
    yield "complete -o default -F _tocsin tocsin"


def _zsh(known: Sequence[CommandParser]) -> Iterator[str]:
    yield "#compdef tocsin"
    yield "_tocsin() {"
    yield "    local -a commands"
    yield "    commands=("
    for each in known:
        yield f"        {_quoted(f'{each.verb}:{_plain(VERBS[each.verb])}')}"
    yield "    )"
    yield "    if (( CURRENT == 2 )); then"
    yield "        _describe -t commands command commands"
    yield "        return"
    yield "    fi"
    yield "    local verb=$words[2]"
    yield "    shift words"
    yield "    (( CURRENT-- ))"
    yield "    case $verb in"
    for each in known:
        yield f"        {each.verb})"
        yield "            _arguments \\"
        for option in each.options:
            yield f"                {_quoted(_zsh_option(option))} \\"
        words = f"({' '.join(each.words)})" if each.words else "_files"
        yield f"                {_quoted(f'*:word:{words}')} ;;"
    yield "    esac"
    yield "}"
    # Read by the completion system as a function of its own, or sourced by a person.
    yield 'if [ "$funcstack[1]" = _tocsin ]; then _tocsin "$@"; else compdef _tocsin tocsin; fi'


def _zsh_option(option: Option) -> str:
    text = f"{option.name}[{_plain(option.help)}]"
    if option.bare:
        return text
    values = (
        f"({' '.join(option.values)})" if option.values else "_files" if option.metavar in _FILES else " "
    )
    return f"*{text}:{_plain(option.metavar)}:{values}"


def _fish(known: Sequence[CommandParser]) -> Iterator[str]:
    yield "# fish completion of tocsin"
    for each in known:
        help_ = _quoted(VERBS[each.verb], fish=True)
        yield f"complete -c tocsin -f -n __fish_use_subcommand -a {each.verb} -d {help_}"
    for each in known:
        when = f"-n '__fish_seen_subcommand_from {each.verb}'"
        for word, text in each.words.items():
            yield f"complete -c tocsin -f {when} -a {word} -d {_quoted(text, fish=True)}"
        for option in each.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names
            )
            takes = (
                ""
                if option.bare
                else f" -x -a {_quoted(' '.join(option.values), fish=True)}"
                if option.values
                else " -r"
            )
            yield f"complete -c tocsin {when} {names}{takes} -d {_quoted(option.help, fish=True)}"


def _plain(text: str) -> str:
    """Return *text* without what zsh reads as its own in a specification."""
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def _quoted(text: str, *, fish: bool = False) -> str:
    """Return *text* as one word of a shell."""
    if fish:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + text.replace("'", "'\\''") + "'"


_SHELLS: Final[dict[str, Callable[[Sequence[CommandParser]], Iterator[str]]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
