"""``tocsin user``: sets a password, turns two-factor authentication off, or prints a set-up link."""

import argparse
import getpass
import secrets
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from collector.accounts.service import password_links, team, two_factor, users
from collector.platform.access import operator
from collector.platform.interruptible import run
from collector.platform.operator import ground, operators
from shared.command import begin_with
from shared.errors import BadSettings, Invalid
from shared.settings import CopySettings, OperatorSettings

_GENERATED_BYTES = 15


def main(argv: list[str]) -> int:
    """Print the link, turn the second factor off, or read the password from the terminal or from stdin."""
    own, settings = begin_with(_parser(), CopySettings, argv, _lacks)
    if own.action == "setup-link":
        print(run(_link(settings, own.email, own.team)))  # noqa: T201 - the answer
        return 0
    if own.action == "two-factor-off":
        run(_two_factor_off(operators(settings), own.email, own.team))
        print(f"{own.email}: two-factor authentication is off")  # noqa: T201 - the answer
        return 0
    return _passwd(own, operators(settings))


def _lacks(given: Mapping[str, Any]) -> Iterator[str]:
    if given.get("action") in ("passwd", "two-factor-off") and not given.get("email"):
        yield "EMAIL: is required: the address of the user"


def _passwd(own: argparse.Namespace, settings: OperatorSettings) -> int:
    """Set the password; print it only if it was generated here."""
    password = secrets.token_urlsafe(_GENERATED_BYTES) if own.generate else _asked(own.email)
    try:
        run(_set(settings, own.email, own.team, password))
    except Invalid as error:
        raise BadSettings("; ".join(f"{name} {text}" for name, text in error.details.items())) from None
    print(password if own.generate else f"{own.email}: password set")  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = (
        "tocsin user passwd EMAIL [--generate] [--team TEAM] | tocsin user setup-link [EMAIL] [--team TEAM] "
        "| tocsin user two-factor-off EMAIL [--team TEAM]"
    )
    parser = argparse.ArgumentParser(prog="tocsin user", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["passwd", "two-factor-off", "setup-link"])
    parser.add_argument(
        "email",
        metavar="EMAIL",
        nargs="?",
        help="address of the user; for a set-up link, by default the first admin",
    )
    parser.add_argument("--generate", action="store_true", help="generate a password and print it")
    parser.add_argument("--team", help="a team's id or name, if users of several teams have this address")
    return parser


def _asked(email: str) -> str:
    """Read the password, never from the command line, which others can read."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass(f"Password of {email}: ")
    if getpass.getpass("Once more: ") != first:
        raise BadSettings("the two passwords are not the same")
    return first


async def _link(settings: CopySettings, email: str | None, team_name: str | None) -> str:
    """Return a new link to set up the console; older ones expire. Raises Conflict, NotFound."""
    async with ground(operators(settings)) as here:
        async with here.db.connection() as tx:
            found = await team.named(tx, team_name) if team_name else None
        team_id = found.team_id if found else None
        secret = await password_links.first_by_operator(here.db, team_id, email, here.now)
    return f"{settings.public_url.rstrip('/')}/setup/{secret}"


async def _set(settings: OperatorSettings, email: str, team_name: str | None, password: str) -> None:
    async with ground(settings) as here:
        async with here.db.connection() as tx:
            found = await team.named(tx, team_name) if team_name else None
        await users.set_password(here.db, email, found.team_id if found else None, password)


async def _two_factor_off(settings: OperatorSettings, email: str, team_name: str | None) -> None:
    """Turn the user's second factor off. Raises NotFound."""
    async with ground(settings) as here:
        async with here.db.connection() as tx:
            found = await team.named(tx, team_name) if team_name else None
            user = await users.only_with_email(tx, email, found.team_id if found else None)
        await two_factor.reset(here.db, operator(user.team_id), user.id)
