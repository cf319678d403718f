"""``tocsin probe-token create``: prints a join token for a probe that serves every team."""

import argparse
from datetime import timedelta

from collector.platform.access import operator
from collector.platform.interruptible import run
from collector.platform.operator import ground, read
from collector.probes.service import authority, join_tokens
from shared.setting_table import TABLE
from shared.settings import OperatorSettings

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def main(argv: list[str]) -> int:
    """Print the token and nothing else; it cannot be shown again."""
    own, settings = read(_parser(), argv)
    print(run(_create(settings, own.location, own.uses, own.ttl)))  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin probe-token create --location LOCATION [--uses NUMBER] [--ttl TIME]"
    parser = argparse.ArgumentParser(prog="tocsin probe-token", usage=usage, allow_abbrev=False)
    parser.add_argument("action", choices=["create"])
    parser.add_argument(
        "--location",
        required=True,
        type=TABLE["locations"].read,
        help="locations of its probes, separated by commas",
    )
    parser.add_argument(
        "--uses", default="1", type=_uses, metavar="NUMBER", help="number of probes that may join with it (1)"
    )
    parser.add_argument("--ttl", default="1h", type=_life, metavar="TIME", help="validity: 15m, 1h, 7d (1h)")
    return parser


async def _create(settings: OperatorSettings, locations: tuple[str, ...], uses: int, life: timedelta) -> str:
    async with ground(settings) as here:
        trust = await authority.trust(here.db, here.keyring, here.now)
        async with here.db.transaction() as tx:
            token, text = await join_tokens.issue(
                tx, trust, team_id=None, locations=locations, now=here.now, uses=uses, life=life
            )
            await join_tokens.record(tx, operator(), "create", token)
    return text


def _uses(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= join_tokens.MOST_USES:
        raise ValueError(f"must be a whole number from 1 to {join_tokens.MOST_USES}")
    return int(text)


def _life(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    fits = number.isascii() and number.isdigit() and len(number) < 9 and unit in _UNITS
    life = timedelta(seconds=int(number) * _UNITS[unit]) if fits else timedelta()
    if not join_tokens.SHORTEST <= life <= join_tokens.LONGEST:
        raise ValueError("must be from 1m to 30d, as 15m, 1h, 7d")
    return life
