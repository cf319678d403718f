"""``tocsin team create``: creates a team and prints its admin token once."""

import argparse
import sys
from collections.abc import Callable
from typing import Final

from collector.accounts.service import team
from collector.accounts.service.team import InitialTeam
from collector.platform.bucket import PlanName
from collector.platform.interruptible import run
from collector.platform.operator import ground, operators
from collector.platform.validation import validation
from shared.command import begin_with
from shared.setting_table import TABLE
from shared.settings import TeamSettings

_OPEN: Final = (
    "tocsin: this team's checks and webhooks may reach private addresses, those of this machine too. "
    "If strangers get it, set TOCSIN_ALLOW_PRIVATE_TARGETS=false on every collector and probe; "
    'see "For several teams" in the README.\n'
)


def main(argv: list[str]) -> int:
    """Print only the token; it cannot be read again."""
    own, settings = begin_with(_parser(), TeamSettings, argv)
    token = run(_create(settings, own.name, own.plan, own.admin_email, again=own.again))
    print(token)  # noqa: T201 - the answer
    if settings.allow_private_targets:
        sys.stderr.write(_OPEN)
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin team create NAME --plan PLAN [--admin-email EMAIL] [--again]"
    parser = argparse.ArgumentParser(prog="tocsin team", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["create"])
    parser.add_argument("name", metavar="NAME", type=_field("name"), help="the team's name")
    parser.add_argument(
        "--plan", required=True, type=TABLE["plan"].read, help="free, developer, pro or enterprise"
    )
    parser.add_argument(
        "--admin-email",
        default="admin@localhost",
        type=_field("adminEmail"),
        metavar="EMAIL",
        help="email address of its first user (admin@localhost)",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="create it even if the name is in use, which makes the name ambiguous",
    )
    return parser


def _field(name: str) -> Callable[[str], str]:
    """Return a parser of one field of a team, which raises ValueError."""

    def reads(text: str) -> str:
        faults = validation.read(InitialTeam, {"name": "x", "adminEmail": "x@localhost", name: text}).faults
        if faults:
            raise ValueError(faults[name])
        return text

    return reads


async def _create(settings: TeamSettings, name: str, plan: PlanName, email: str, *, again: bool) -> str:
    async with ground(operators(settings)) as here:
        made = await team.create(here.db, name, plan, email, here.now, again=again)
    return made.token
