"""Fills a new team with the demonstration: three months in which everything happens, within a minute."""

from collections import defaultdict
from datetime import datetime, timedelta
from random import Random
from typing import Final

import structlog

from collector.demo import deliveries, heartbeats, probes, storage, team
from collector.demo.core import fleet, past
from collector.demo.core.fleet import PlannedMonitor
from collector.demo.core.numbers import Span, ms_of
from collector.demo.core.past import ResponseTimes
from collector.demo.history import History
from collector.demo.simulation import Simulation
from collector.demo.storage import AssignedCheck
from collector.demo.story import Story
from collector.demo.team import DemoTarget, DemoTeam
from collector.history.storage import partitions
from shared.kinds import ReceiverType

log = structlog.get_logger()

SEED: Final = 2_026
_DAY: Final = timedelta(days=1)


async def fill(where: DemoTarget, now: datetime) -> DemoTeam:
    """Fill the team, which is new. Each time the same but for ids and secrets; *now* ends it."""
    random = Random(SEED)  # noqa: S311 - to be the same each time is its purpose
    planned, began = fleet.monitors(random), now - past.HISTORY
    times, db = ResponseTimes(past.slow_times(now)), where.db
    async with db.transaction() as tx:
        await partitions.make_days(tx, [(began + n * _DAY).date() for n in range(-1, past.DAYS + 4)])
    living = await probes.enrol(db, where.team_id, began)
    for probe in living:
        await probes.connect(db, probe, began)
    made, simulation = DemoTeam(where), Simulation(db, living, began)
    await team.invite(made, began, now)
    await team.create_monitors(made, planned, began)
    await team.set_up(made, began, now)
    await simulation.learn_rules()
    checks = await _checks(where)
    story = Story(made, simulation, times, checks, random)
    await story.play(planned, now)
    jobs = [
        check
        for monitor in planned
        if monitor.type == ReceiverType.HEARTBEAT
        for check in checks[monitor.name]
    ]
    await heartbeats.ping(db, where.team_id, filter(story.is_well, jobs), simulation)
    await deliveries.deliver(db, where.team_id, random)
    known = {name: of_one for name, of_one in checks.items() if name not in fleet.NEW}
    history = History(db, where.team_id, planned, times, now, random)
    await history.write(known, await _away(made, planned))
    log.info("demonstration filled", monitors=len(made.monitors))
    return made


async def _checks(where: DemoTarget) -> dict[str, list[AssignedCheck]]:
    found: defaultdict[str, list[AssignedCheck]] = defaultdict(list)
    async with where.db.connection() as tx:
        for check in await storage.assigned(tx, where.team_id):
            found[check.name].append(check)
    return dict(found)


async def _away(made: DemoTeam, planned: list[PlannedMonitor]) -> dict[str, list[Span]]:
    """The maintenance of the databases, which came every week."""
    async with made.team.db.connection() as tx:
        rows = await storage.maintained(tx, made.team.team_id, [made.windows["Database upgrades"]])
    spans = [(ms_of(since), ms_of(until)) for _, since, until in rows]
    concerned = [monitor.name for monitor in planned if monitor.body.get("tags", {}).get("team") == "data"]
    return dict.fromkeys(concerned, spans)
