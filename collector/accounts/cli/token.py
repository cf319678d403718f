"""``tocsin token create``: prints an API token of a team's first admin, once."""

import argparse
from datetime import timedelta

from collector.accounts.service import team, tokens
from collector.accounts.storage import users
from collector.platform.access import Permission, operator
from collector.platform.interruptible import run
from collector.platform.operator import ground, read
from shared.errors import NotFound
from shared.settings import OperatorSettings

_UNITS = {"m": 1 / 1440, "h": 1 / 24, "d": 1, "y": 365}
_LONGEST = timedelta(days=3650)


def main(argv: list[str]) -> int:
    """Print only the token; it cannot be read again."""
    own, settings = read(_parser(), argv)
    made = _create(settings, own.team, own.name, Permission(own.permission), own.expires_in)
    print(run(made))  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin token create --name NAME --permission PERMISSION [--expires-in TIME] [--team TEAM]"
    parser = argparse.ArgumentParser(prog="tocsin token", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["create"])
    parser.add_argument("--name", required=True, type=_name, help="the purpose of the token")
    parser.add_argument(
        "--permission",
        required=True,
        choices=[each.value for each in Permission],
        help="what the token permits",
    )
    parser.add_argument(
        "--expires-in", default="never", type=_life, metavar="TIME", help="never, or 12h, 30d, 1y"
    )
    parser.add_argument("--team", help="a team's id or name; by default the first team")
    return parser


async def _create(
    settings: OperatorSettings,
    team_name: str | None,
    name: str,
    permission: Permission,
    life: timedelta | None,
) -> str:
    async with ground(settings) as here, here.db.transaction() as tx:
        found = await team.named(tx, team_name)
        admin = await users.first_admin(tx, found.team_id)
        if admin is None:
            raise NotFound(f"the team {found.name} has no admin")
        made = await tokens.make(tx, operator(found.team_id), admin, name, permission, life, here.now)
    return made.value


def _name(text: str) -> str:
    if not 0 < len(text) <= 100 or not text.strip() or not text.isprintable():
        raise ValueError("must have 1 to 100 printable characters")
    return text


def _life(text: str) -> timedelta | None:
    if text == "never":
        return None
    number, unit = text[:-1], text[-1:]
    fits = number.isascii() and number.isdigit() and len(number) < 6 and unit in _UNITS
    life = timedelta(days=int(number) * _UNITS[unit]) if fits else timedelta()
    if not timedelta() < life <= _LONGEST:
        raise ValueError("must be never, or up to 10y, as 12h, 30d, 1y")
    return life
