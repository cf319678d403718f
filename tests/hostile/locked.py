"""The packages of a lock file, with the hashes that they must have."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
RUN: Final = ROOT / "locks" / "run.txt"
TEST: Final = ROOT / "locks" / "test.txt"
_PACKAGE: Final = re.compile(
    r"([a-z0-9][a-z0-9.-]*)==([^\s;]+)(?: ; ([^\\]+?))?((?: \\\n    --hash=sha256:[0-9a-f]{64})*)\n"
)


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """*marker*: the environments that need it, empty for all; *hashes*: SHA-256 of its files."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def packages(lock: Path) -> list[LockedPackage]:
    """Read a lock file. Raises ValueError for a line that pins no package."""
    text, found, at = lock.read_text(encoding="utf-8"), [], 0
    while at < len(text):
        match = _PACKAGE.match(text, at)
        if match is None:
            line = text[at:].partition("\n")[0]
            raise ValueError(f"{lock.name}: {line!r} pins no package")
        hashes = tuple(re.findall(r"[0-9a-f]{64}", match[4]))
        found.append(LockedPackage(match[1], match[2], match[3] or "", hashes))
        at = match.end()
    return found
