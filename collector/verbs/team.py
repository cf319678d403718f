"""``tocsin team create``: a further team, whose admin's token is printed once."""

import argparse
from collections.abc import Callable

from collector.services import team, validation
from collector.services.team import First
from collector.verbs.operator import ground, read
from collector.verbs.stopping import run
from shared.setting_table import TABLE
from shared.settings import OperatorSettings


def main(argv: list[str]) -> int:
    """Print the token and nothing else; it is nowhere to be read again."""
    own, settings = read(_parser(), argv)
    print(run(_create(settings, own.name, own.plan, own.admin_email)))  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin team create NAME --plan PLAN [--admin-email EMAIL]"
    parser = argparse.ArgumentParser(prog="tocsin team", usage=usage, allow_abbrev=False)
    parser.add_argument("deed", choices=["create"])
    parser.add_argument("name", metavar="NAME", type=_field("name"), help="what it is called")
    parser.add_argument(
        "--plan", required=True, type=TABLE["plan"].read, help="free, developer, pro or enterprise"
    )
    parser.add_argument(
        "--admin-email",
        default="admin@localhost",
        type=_field("adminEmail"),
        metavar="EMAIL",
        help="of its first user (admin@localhost)",
    )
    return parser


def _field(name: str) -> Callable[[str], str]:
    """Reads one thing that is said of a team, or raises ValueError."""

    def reads(text: str) -> str:
        faults = validation.read(First, {"name": "x", "adminEmail": "x@localhost", name: text}).faults
        if faults:
            raise ValueError(faults[name])
        return text

    return reads


async def _create(settings: OperatorSettings, name: str, plan: str, email: str) -> str:
    async with ground(settings) as here:
        made = await team.create(here.db, name, plan, email, here.now)
    return made.token
