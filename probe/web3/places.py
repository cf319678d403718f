"""Findings at one place of a chain."""

from dataclasses import dataclass

from shared.findings import Finding


@dataclass(frozen=True, slots=True)
class PlaceFinding:
    """A finding, where it lies, and the *net* amount that came of it to the wallet that is watched."""

    block: int
    block_hash: str
    index: int
    finding: Finding
    net: int = 0

    @property
    def size(self) -> int:
        """The bytes that it takes of a result."""
        return len(self.finding.data)
