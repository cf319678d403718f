"""``tocsin probes list|drain|undrain|revoke``: the operator manages every probe."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from collector.platform.access import operator
from collector.platform.interruptible import run
from collector.platform.operator import OpenDatabase, ground, read
from collector.probes.service import probes
from collector.probes.storage.reads import Probe
from shared import ids
from shared.clock import iso
from shared.errors import NotFound
from shared.settings import OperatorSettings

_COLUMNS = ("ID", "NAME", "LOCATIONS", "STATUS", "VERSION", "LAST SEEN", "CERTIFICATE UNTIL", "SERVES")


def main(argv: list[str]) -> int:
    """Run the command and print the result."""
    own, settings = read(_parser(), argv, _lacks)
    for line in run(_do(settings, own.action, own.probe)):
        print(line)  # noqa: T201 - the answer
    return 0


def _parser() -> argparse.ArgumentParser:
    usage = "tocsin probes list | drain PROBE | undrain PROBE | revoke PROBE"
    parser = argparse.ArgumentParser(prog="tocsin probes", usage=usage, allow_abbrev=False)
    parser.add_argument(
        "action",
        choices=["list", "drain", "undrain", "revoke"],
        help="drain: move its checks to other probes; undrain: move them back; revoke: permanently",
    )
    parser.add_argument("probe", nargs="?", metavar="PROBE", help="its id, or its name if that is unique")
    return parser


def _lacks(values: Mapping[str, Any]) -> Iterator[str]:
    action, probe = values.get("action"), values.get("probe")
    if action is not None and (probe is None) != (action == "list"):
        yield f"PROBE: {'is not asked for by list' if probe else 'is required'}"


async def _do(settings: OperatorSettings, action: str, named: str | None) -> list[str]:
    async with ground(settings) as here:
        known = await probes.all_(here.db)
        if named is None:
            return _table(known, here.now)
        probe_id = _meant(known, named)
        await _change(here, action, probe_id)
    return [f"{ids.show('prb', probe_id)}: {action}{'ed' if action != 'revoke' else 'd'}"]


async def _change(here: OpenDatabase, action: str, probe_id: UUID) -> None:
    if action == "revoke":
        await probes.revoke(here.db, operator(), probe_id, here.now)
    else:
        await probes.drain(here.db, operator(), probe_id, here.now if action == "drain" else None)


def _meant(known: Sequence[Probe], named: str) -> UUID:
    """The probe with this id, or with this name if it is unique among unrevoked probes. Raises NotFound."""
    probe_id = ids.read("prb", named)
    same = [probe for probe in known if probe.probe_id == probe_id] or [
        probe for probe in known if probe.name == named and probe.revoked_at is None
    ]
    if len(same) != 1:
        raise NotFound(f"{'several probes are' if same else 'no probe is'} called {named}")
    return same[0].probe_id


def _table(known: Sequence[Probe], now: datetime) -> list[str]:
    rows = [_COLUMNS, *(_row(probe, now) for probe in known)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _row(probe: Probe, now: datetime) -> tuple[str, ...]:
    return (
        ids.show("prb", probe.probe_id),
        probe.name,
        ",".join(probe.locations),
        probe.status(now),
        probe.version or "-",
        iso(probe.seen_at) if probe.seen_at else "-",
        iso(probe.not_after) if probe.not_after else "-",
        "every team" if probe.team_id is None else "its team",
    )
