"""The console's stylesheet and scripts, served at addresses that change with their content."""

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

_KINDS: Final[Mapping[str, str]] = {
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served; *packed*: the same in gzip."""

    body: bytes
    packed: bytes
    kind: str


def _read() -> dict[str, Asset]:
    found = {}
    for file in sorted(
        files("collector.console").joinpath("static").iterdir(), key=lambda traversable: traversable.name
    ):
        kind = _KINDS.get(file.name.rpartition(".")[2])
        if kind is not None:
            body = file.read_bytes()
            found[file.name] = Asset(body, gzip.compress(body, mtime=0), kind)
    return found


ASSETS: Final[Mapping[str, Asset]] = _read()
# One version for all, so that scripts may import each other by relative paths.
VERSION: Final = hashlib.sha256(
    b"".join(name.encode() + asset.body for name, asset in ASSETS.items())
).hexdigest()[:16]


def url(name: str) -> str:
    """Return the asset's address; raises KeyError for an unknown one."""
    _ = ASSETS[name]
    return f"/assets/{VERSION}/{name}"
