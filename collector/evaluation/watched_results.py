"""Which results alert rules wait for, so that other results cost one dictionary lookup."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from shared.results import Status


@dataclass(frozen=True, slots=True)
class WatchedMonitor:
    """A monitor whose failed checks matter, as do slow ones, and those with one of *codes*."""

    team_id: int
    id: UUID
    timeout_s: int
    slower_than_ms: int
    codes: frozenset[int]

    def matters(self, status: int, ms: int, code: int) -> bool:
        return status == Status.DOWN or ms > self.slower_than_ms or code in self.codes


class WatchedResults(Protocol):
    """Knows the monitors whose results rules wait for, by their numbers."""

    @property
    def monitors(self) -> Mapping[int, WatchedMonitor]: ...


@dataclass(frozen=True, slots=True)
class _Fixed:
    monitors: Mapping[int, WatchedMonitor]


NOTHING_WATCHED: Final[WatchedResults] = _Fixed({})
