"""Decides when a probe's owner is notified that it went offline, lost connectivity, or recovered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from collector.evaluation.core.quorum import SILENCE
from collector.probes.core.assignment import LIVE


class PresenceChange(StrEnum):
    """Why a probe counts as offline, or that it is back."""

    STOPPED = "stopped"
    LOST = "lost"
    BLIND = "blind"
    BACK = "back"


class ProbeStatus(StrEnum):
    """Whether a probe is connected, hands its monitors to others or is rejected."""

    ONLINE = "online"
    OFFLINE = "offline"
    DRAINING = "draining"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Presence:
    """The presence data of a probe that was connected at least once.

    *ended_at*: end of its last session; *stopped*: the probe ended it. *blind_since*: none of its canaries
    has answered since. *notified*: its owner was notified that it is offline.
    """

    seen_at: datetime
    ended_at: datetime | None
    stopped: bool
    blind_since: datetime | None
    draining: bool
    notified: bool

    def live(self, now: datetime) -> bool:
        return self.ended_at is None and abs(now - self.seen_at) < LIVE


def change(
    presence: Presence, since: datetime, now: datetime, patience: timedelta = SILENCE
) -> PresenceChange | None:
    """The change that its owner is notified of now, if any.

    *since*: a collector has listened without interruption since then; earlier silence does not count. A
    draining probe is expected to go offline.
    """
    sees = presence.blind_since is None
    if presence.notified:
        return PresenceChange.BACK if sees and presence.live(now) else None
    if presence.draining:
        return None
    if not presence.live(now):
        silent_since = max(presence.ended_at or presence.seen_at, since)
        gone = PresenceChange.STOPPED if presence.stopped and presence.ended_at else PresenceChange.LOST
        return gone if now - silent_since >= patience else None
    if presence.blind_since is not None and now - max(presence.blind_since, since) >= patience:
        return PresenceChange.BLIND
    return None
