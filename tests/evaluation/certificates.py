"""Batches of checks that complain of a certificate's coming end, and who tells of it."""

from dataclasses import replace
from datetime import datetime, timedelta

from collector.evaluation.jobs.certificates import Certificates
from collector.evaluation.writer import Submission
from shared.clock import utc_now
from shared.kinds.tls import Expiry
from shared.results import Status
from tests.clocks import GivenClock
from tests.evaluation.world import World, writing

NEARS = "tls: certificate expires in 9 days, 14 are wanted"
EXPIRED = "tls: certificate expired 1 hour ago"
REFUSED = "connect: refused by 192.0.2.1:443"
ENDS = int((utc_now() + timedelta(days=9, hours=12)).timestamp())


async def of_certificates(
    world: World, *, days: int | None = 14, type_: str = "tls", severity: str = "critical"
) -> World:
    """*world*, whose monitors are of certificates that must have *days* left."""
    config = {"domain": "example.com"} if days is None else {"domain": "example.com", "expiryDays": days}
    await world.run("UPDATE monitors SET type = $1, config = $2, severity = $3", type_, config, severity)
    return world


def keeping(submission: Submission, state: bytes) -> Submission:
    """The same batch with *state* beside each result."""
    batch = submission.batch
    return replace(submission, batch=replace(batch, state=dict.fromkeys(range(len(batch.monitor)), state)))


def near(
    world: World,
    *,
    count: int = 1,
    ends: int = ENDS,
    location: str = "local",
    ago: timedelta = timedelta(seconds=1),
) -> Submission:
    """The next batch: checks that find nothing wrong but that the end is near."""
    submission = world.batch(*[Status.DOWN] * count, error=NEARS, location=location, ago=ago)
    return keeping(submission, Expiry(only_near=True, ends=ends).pack())


def fine(world: World, *, ends: int, location: str = "local") -> Submission:
    return keeping(world.batch(Status.UP, location=location), Expiry(only_near=False, ends=ends).pack())


async def submit(world: World, *submissions: Submission) -> None:
    async with writing(world) as writer:
        for submission in submissions:
            await writer.submit(submission)


def certificates(world: World, ahead: timedelta = timedelta()) -> Certificates:
    """Who tells, with a clock that is *ahead*."""

    def now() -> datetime:
        return utc_now() + ahead

    return Certificates(world.db, clock=GivenClock(now))
