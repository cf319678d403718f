"""Who checks a monitor at a location: rendezvous hashing over the probes that serve it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from shared.schedule import mix

# A probe sends a message every 5 s, recorded within a second; one that was silent for longer than this loses
# its assignments. Their new probes should have them within 10 s.
LIVE = timedelta(seconds=8)
# A probe whose stream ended may come back within this time, as after a restart.
RETURN = timedelta(seconds=4)
# If a location's own probe was seen within this time, no stand-in takes over its assignments.
KEPT = timedelta(days=1)

_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class ProbeCandidate:
    """The properties of a probe that assignment needs; *alive_at*: its last message or its session's end."""

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
        """Whether it was heard recently; a future time, left by a clock that was set back, does not count."""
        return self.alive_at is not None and abs(now - self.alive_at) < within

    def serves(self, team_id: int, type_: str) -> bool:
        """A probe without a team serves every team; a team's probe serves that team only."""
        return type_ in self.kinds and self.team_id in (None, team_id)


@dataclass(frozen=True, slots=True)
class ProbePool:
    """The probes that may check one team's monitors of one type at one location.

    *able* may keep their assignments, *at_work* are the connected ones among them, which can hand over
    themselves, *live* those that can get new ones; *own*: a live probe belongs to the location.
    """

    able: frozenset[UUID]
    at_work: frozenset[UUID]
    live: tuple[tuple[UUID, int], ...]
    own: bool


def pool(
    probes: Iterable[ProbeCandidate], team_id: int, type_: str, location: str, now: datetime
) -> ProbePool:
    """The pool of a location; stand-ins count only if it has had no probe of its own for long."""
    fit = [probe for probe in probes if probe.serves(team_id, type_)]
    own = [probe for probe in fit if location in probe.locations]
    others = [probe for probe in fit if probe.stands_in]
    able = own if any(probe.heard(now, KEPT) for probe in own) or not others else others
    alive = [probe for probe in able if probe.alive(now)]
    # A draining probe keeps what no other probe can check.
    chosen_from = [probe for probe in alive if not probe.draining] or alive
    return ProbePool(
        able=frozenset(probe.probe_id for probe in able),
        at_work=frozenset(probe.probe_id for probe in alive if not probe.ended),
        live=tuple((probe.probe_id, _seed(probe.probe_id)) for probe in chosen_from),
        own=any(probe.alive(now) for probe in own),
    )


def choose(
    pool: ProbePool, monitor: int, location: int, holder: UUID | None, *, patient: bool = False
) -> UUID | None:
    """The probe that should check *monitor* at *location*; *holder* checks it now.

    Without a live probe, the holder keeps it; with *patient*, a silent holder keeps it, too.
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
