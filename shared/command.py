"""The command `tocsin`: finds the program of each verb, which may not be installed here."""

import argparse
import gc
import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import structlog

from shared import __version__, entry
from shared.arguments import meant
from shared.errors import BadSettings, CannotStart, TocsinError
from shared.log import set_up
from shared.settings import Check, Settings, load_with, quiet_libraries

VERBS: Final = {
    "up": "everything on this machine: PostgreSQL, a collector and a probe",
    "collector": "a collector, over TOCSIN_DATABASE_URL",
    "probe": "a probe, for the collector that TOCSIN_COLLECTOR names",
    "check": "one check from here, with its phases",
    "probe-token": "create: a join token for probes",
    "probes": "list, drain or revoke probes",
    "token": "create: an API token",
    "team": "create: another team, and its admin's token",
    "user": "passwd, setup-link: set a password, or create a link to choose one",
    "status-page": "export: a copy of a status page, as files for any web host",
    "apply": "bring monitors, alerting and status pages in line with files",
    "export": "print a team's configuration as such a file",
    "import": "write another system's monitors as such a file",
    "login": "keep the address and a token of a service, for the next commands",
    "logout": "forget them",
    "monitors": "list, show, check, pause, resume or silence monitors through the API",
    "incidents": "list, show, acknowledge, resolve or annotate incidents through the API",
    "events": "tail: events as they happen, through the API",
    "mcp": "serve the Model Context Protocol over the API, for assistants",
    "migrate": "migrate the database to this version",
    "backup": "write the whole database to a file",
    "restore": "load such a file into an empty database",
    "completion": "print what completes these commands in bash, zsh or fish",
    "man": "print the manual page of a command",
}


def main(argv: list[str] | None = None) -> int:
    """Run ``tocsin VERB ...`` and return its exit status."""
    verb, *rest = (sys.argv[1:] if argv is None else argv) or ["--help"]
    if verb in {"--version", "version"}:
        return _answer(f"tocsin {__version__}")
    if verb in {"--help", "-h", "help"}:
        return _answer(_help())
    point = _verbs().get(verb)
    if point is None:
        return _refuse(f"no such command: {verb}{meant(verb, _verbs())}; see tocsin --help")
    return _run(point, rest)


def load(verb: str) -> Any:
    """Return the function that runs a verb. Raises ImportError where its package is not installed."""
    # What is loaded stays: looking for garbage in it would take a tenth of the time.
    gc.disable()
    try:
        return _verbs()[verb].load()
    finally:
        gc.enable()


def _run(verb: EntryPoint, argv: list[str]) -> int:
    quiet_libraries()
    try:
        program = load(verb.name)
        entry.loaded()
        status: int = program(argv)
    except BadSettings as error:
        faults = str(error).replace("\n", "\n  ")
        return _refuse(f"settings that cannot be used:\n  {faults}\nsee tocsin {verb.name} --help")
    except CannotStart as error:
        return _refuse(str(error))
    except TocsinError as error:
        return _refuse(str(error), status=1)
    except KeyboardInterrupt:
        return _refuse("stopped", status=entry.stopped(verb.name))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] in {"collector", "probe", "shared"}:
            raise
        return _refuse(f"{error.name} is not installed: pip install 'tocsin[{_extra(verb.name)}]'")
    return status


def begin(verb: str, kind: type[Settings], argv: list[str], check: Check = lambda _: ()) -> Settings:
    """Read a role's settings and configure its log. Raises BadSettings."""
    parser = argparse.ArgumentParser(prog=f"tocsin {verb}", allow_abbrev=False)
    return begin_with(parser, kind, argv, check)[1]


def begin_with(
    parser: argparse.ArgumentParser, kind: type[Settings], argv: list[str], check: Check = lambda _: ()
) -> tuple[argparse.Namespace, Settings]:
    """As `begin`, with the command's own arguments. Raises BadSettings."""
    parser.description = parser.description or VERBS.get(parser.prog.removeprefix("tocsin "))
    own, settings, warnings = load_with(parser, kind, argv, check=check)
    set_up(settings.log_format, settings.log_level)
    for warning in warnings:
        structlog.get_logger().warning(warning)
    return own, settings


def _verbs() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group="tocsin.verbs")}


def _help() -> str:
    lines = [f"  {verb:<11} {VERBS.get(verb, '')}" for verb in sorted(_verbs(), key=_rank)]
    return "\n".join(
        [
            "usage: tocsin COMMAND [--flag VALUE ...]",
            "",
            *lines,
            "",
            "tocsin COMMAND --help lists its settings; each is a variable too: --data-dir is TOCSIN_DATA_DIR",
        ]
    )


def _rank(verb: str) -> int:
    return list(VERBS).index(verb) if verb in VERBS else len(VERBS)


def _extra(verb: str) -> str:
    return {"up": "up", "probe": "probe", "check": "probe", "mcp": "mcp"}.get(verb, "collector")


def _answer(text: str) -> int:
    print(text)  # noqa: T201 - to stdout, as asked
    return 0


def _refuse(message: str, status: int = 2) -> int:
    print(f"tocsin: {message}", file=sys.stderr)  # noqa: T201 - before there is a log
    return status


if __name__ == "__main__":
    sys.exit(main())
