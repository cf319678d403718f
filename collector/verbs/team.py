"""``tocsin team create``: a further team, whose admin's token is printed once."""

import argparse
import asyncio

from collector.services import team
from collector.verbs.operator import ground, read
from shared.clock import utc_now
from shared.errors import BadSettings, Invalid
from shared.setting_table import TABLE
from shared.settings import OperatorSettings


def main(argv: list[str]) -> int:
    """Print the token and nothing else; it is nowhere to be read again."""
    own, settings = read(_parser(), argv)
    try:
        plan = TABLE["plan"].read(own.plan)
    except ValueError as error:
        raise BadSettings(f"--plan {error}") from None
    try:
        print(asyncio.run(_create(settings, own.name, plan, own.admin_email)))  # noqa: T201 - the answer
    except Invalid as error:
        raise BadSettings("; ".join(f"{name} {text}" for name, text in error.details.items())) from None
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tocsin team", allow_abbrev=False)
    parser.add_argument("deed", choices=["create"])
    parser.add_argument("name")
    parser.add_argument("--plan", required=True, help="free, developer, pro or enterprise")
    parser.add_argument("--admin-email", default="admin@localhost", help="of its first user")
    return parser


async def _create(settings: OperatorSettings, name: str, plan: str, email: str) -> str:
    async with ground(settings) as here:
        made = await team.create(here.db, name, plan, email, utc_now())
    return made.token
