"""Who checks a monitor at a location: rendezvous hashing over the probes that serve it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from shared.schedule import mix

# A probe speaks each 5 s, and is written down within a second; one that was silent for longer than this has
# lost its work to others. Theirs is to have it within 10 s.
LIVE = timedelta(seconds=8)
# One whose stream has ended may come back within this, as after a restart.
RETURN = timedelta(seconds=4)
# A location whose own probe was there within this time is silent without it, and nobody stands in.
KEPT = timedelta(days=1)

_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class ProbeCandidate:
    """What the choice needs of a probe; *alive_at* is when it was last heard of, or its session's end."""

    probe_id: UUID
    team_id: int | None
    locations: frozenset[str]
    kinds: frozenset[str]
    stands_in: bool
    alive_at: datetime | None
    draining: bool = False
    ended: bool = False

    def alive(self, now: datetime) -> bool:
        return self.heard(now, RETURN if self.ended else LIVE)

    def heard(self, now: datetime, within: timedelta) -> bool:
        """Heard in the future means that a clock was set back since, and says nothing."""
        return self.alive_at is not None and abs(now - self.alive_at) < within

    def serves(self, team_id: int, type_: str) -> bool:
        """A probe without a team serves every team; one of a team never sees another team's monitors."""
        return type_ in self.kinds and self.team_id in (None, team_id)


@dataclass(frozen=True, slots=True)
class Pool:
    """Who may check one team's monitors of one type at one location.

    *able* may hold what they have, *at_work* are those among them that are connected and can hand it on
    themselves, *live* those to choose from now; *own* says whether a live probe serves the location by
    itself.
    """

    able: frozenset[UUID]
    at_work: frozenset[UUID]
    live: tuple[tuple[UUID, int], ...]
    own: bool


def pool(probes: Iterable[ProbeCandidate], team_id: int, type_: str, location: str, now: datetime) -> Pool:
    """A stand-in counts only where the location has no probe of its own, or none since long."""
    fit = [probe for probe in probes if probe.serves(team_id, type_)]
    own = [probe for probe in fit if location in probe.locations]
    others = [probe for probe in fit if probe.stands_in]
    able = own if any(probe.heard(now, KEPT) for probe in own) or not others else others
    alive = [probe for probe in able if probe.alive(now)]
    # What only a draining probe can check it goes on to check.
    chosen_from = [probe for probe in alive if not probe.draining] or alive
    return Pool(
        able=frozenset(probe.probe_id for probe in able),
        at_work=frozenset(probe.probe_id for probe in alive if not probe.ended),
        live=tuple((probe.probe_id, _seed(probe.probe_id)) for probe in chosen_from),
        own=any(probe.alive(now) for probe in own),
    )


def choose(
    pool: Pool, monitor: int, location: int, holder: UUID | None, *, patient: bool = False
) -> UUID | None:
    """The probe that is to check *monitor* at *location*, which *holder* does now.

    With nobody live it stays where it is; *patient* leaves it also with a holder that is silent.
    """
    held = holder if holder in pool.able else None
    if not pool.live or (patient and held and held not in pool.at_work):
        return held
    if len(pool.live) == 1:
        return pool.live[0][0]
    key = mix(monitor << 16 | location)
    return max(pool.live, key=lambda probe: (mix(probe[1] ^ key), probe[0]))[0]


def _seed(probe_id: UUID) -> int:
    return mix((probe_id.int ^ probe_id.int >> 64) & _MASK)
