"""Divides a collector's connections among its parts, so that none starves another."""

from dataclasses import dataclass
from typing import Final

from collector.platform.storage.db import Db

_REQUESTS: Final = 5
# Leaves one connection to other teams.
_REQUESTS_OF_A_TEAM: Final = 4
# One each for look-ups of tokens, sessions and monitors, and one for rate limits.
_QUICK: Final = 4
_INGEST: Final = 3
_TELLING: Final = 2
# One of these listens for signals of other collectors.
_SESSIONS: Final = 4
_UPKEEP: Final = 2
# Outside of the pool, with settings of their own: one statement after the other takes pings.
PING_CONNECTIONS: Final = 1
# Likewise: whether the server answers; see `LivenessWatch`.
WATCH_CONNECTIONS: Final = 1
CONNECTIONS: Final = _REQUESTS + _QUICK + _INGEST + _TELLING + _SESSIONS + _UPKEEP


@dataclass(frozen=True, slots=True)
class Shares:
    """*requests* of API and console; *ingest* stores and evaluates; *telling* alerts and sends.

    *sessions* of probes; *upkeep*: all other background work; *ordered*: see `PingReceiver`.
    """

    requests: Db
    ingest: Db
    telling: Db
    sessions: Db
    upkeep: Db
    ordered: Db | None = None


def shares(db: Db, ordered: Db | None = None) -> Shares:
    """Divide a pool of CONNECTIONS."""
    requests = db.share(_REQUESTS, each=_REQUESTS_OF_A_TEAM)
    requests.quick = db.share(_QUICK)
    return Shares(
        requests,
        db.share(_INGEST),
        db.share(_TELLING),
        db.share(_SESSIONS),
        db.share(_UPKEEP),
        ordered,
    )
