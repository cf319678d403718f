"""Findings at one place of a chain."""

from dataclasses import dataclass

from shared.findings import Finding


@dataclass(frozen=True, slots=True)
class PlaceFinding:
    """A finding, its position, and the *net* amount that the watched wallet received by it."""

    block: int
    block_hash: str
    index: int
    finding: Finding
    net: int = 0

    @property
    def size(self) -> int:
        """Its size in a result, in bytes."""
        return len(self.finding.data)
