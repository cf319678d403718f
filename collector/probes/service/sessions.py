"""Starts a probe's session: authorizes it and finds the cursors of its incarnations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from collector.platform.storage.db import Db, Tx
from collector.probes.storage import probes
from shared.clock import iso
from shared.errors import Conflict, Forbidden, Unauthorized


@dataclass(frozen=True, slots=True)
class AcceptedSession:
    """A session's number, and the last committed seq of each incarnation that the probe named.

    *operators*: whether the probe belongs to the operator rather than to a team.
    """

    session: int
    committed: Mapping[int, int]
    operators: bool


async def accept(db: Db, probe: probes.ProbeDescription, now: datetime) -> AcceptedSession:
    """Start a session, which fences an older one of the same probe.

    Raises Unauthorized for a probe that never enrolled here, Forbidden for one that was revoked or claims
    another location, and Conflict for a clone of a connected probe: on another machine, or a process that
    another one has followed. A restarted process on the same machine takes over at once.
    """
    async with db.transaction() as tx:
        before = await probes.lock(tx, probe.probe_id)
        if before is None:
            raise Unauthorized("this probe is not known here; it needs a join token")
        if before.revoked_at is not None:
            raise Forbidden(f"this probe was revoked at {iso(before.revoked_at)}")
        if set(before.locations) != set(probe.locations):
            raise Forbidden(
                f"this probe was enrolled for {_few(before.locations)}, not for {_few(probe.locations)}"
            )
        if before.live(now) and await _is_another(tx, before, probe):
            raise is_connected(before.address, before.connected_at)
        session = await probes.start_session(tx, probe, now)
        committed = await probes.take_cursors(tx, probe.probe_id, session, probe.incarnations, now)
    return AcceptedSession(session, committed, operators=before.team_id is None)


async def _is_another(tx: Tx, before: probes.ProbeRow, probe: probes.ProbeDescription) -> bool:
    """Whether it differs from the connected process and is not a younger one on the same machine."""
    own = probe.incarnations[-1:]
    return before.boot_id != probe.boot_id or (
        bool(own) and await probes.is_followed(tx, probe.probe_id, own[0])
    )


def is_connected(address: str, since: datetime | None) -> Conflict:
    """The error for a second process with the identity of a connected probe."""
    when = iso(since) if since else "a while ago"
    return Conflict(f"this probe is connected from {address} since {when}: is this a clone of it?")


def _few(locations: Iterable[str]) -> str:
    return ", ".join(sorted(locations))[:200]
