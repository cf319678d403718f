"""``tocsin user passwd``: gives somebody a password without mail."""

import argparse
import getpass
import secrets
import sys

from collector.services import team, users
from collector.verbs.operator import ground, read
from collector.verbs.stopping import run
from shared.errors import BadSettings, Invalid
from shared.settings import OperatorSettings

_GENERATED_BYTES = 15


def main(argv: list[str]) -> int:
    """Take the password from the terminal or from stdin; print one only if it was made here."""
    own, settings = read(_parser(), argv)
    password = secrets.token_urlsafe(_GENERATED_BYTES) if own.generate else _asked(own.email)
    try:
        run(_set(settings, own.email, own.team, password))
    except Invalid as error:
        raise BadSettings("; ".join(f"{name} {text}" for name, text in error.details.items())) from None
    print(password if own.generate else f"{own.email}: password set")  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin user passwd EMAIL [--generate] [--team TEAM]"
    parser = argparse.ArgumentParser(prog="tocsin user", usage=usage, allow_abbrev=False)
    parser.add_argument("deed", choices=["passwd"])
    parser.add_argument("email", metavar="EMAIL", help="who it is for")
    parser.add_argument("--generate", action="store_true", help="make a password and print it")
    parser.add_argument("--team", help="a team's id or name, where several have this address")
    return parser


def _asked(email: str) -> str:
    """Never from the command line: others read that."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass(f"Password of {email}: ")
    if getpass.getpass("Once more: ") != first:
        raise BadSettings("the two passwords are not the same")
    return first


async def _set(settings: OperatorSettings, email: str, team_name: str | None, password: str) -> None:
    async with ground(settings) as here:
        async with here.db.connection() as tx:
            found = await team.named(tx, team_name) if team_name else None
        await users.set_password(here.db, email, found.team_id if found else None, password)
