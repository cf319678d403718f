"""The checkpoint of a Web3 monitor: raised thresholds and what its check must remember."""

import hashlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import orjson

from probe.checks._check import Kept, Missed
from probe.web3.crossings import MeasuredValue, compare
from shared.findings import Finding

_MOST_KEYS: Final = 64
# Everything is reported again after this time, which repairs what was lost or came too late.
_AGAIN_S: Final = 600.0


class CheckpointState:
    """Reads the checkpoint of *kept*, and builds the next one together with the findings.

    *about*: everything that identifies the checked object (chain, address, event...), but no thresholds: of a
    checkpoint about another object, only the raised alerts count.
    """

    __slots__ = ("_about", "_kept", "_told")

    def __init__(self, kept: Kept, *about: object) -> None:
        self._kept = kept
        self._about = hashlib.sha256(orjson.dumps(about, default=str)).hexdigest()[:16]
        self._told: float | None = None

    @property
    def raised(self) -> frozenset[str]:
        """The types of the raised alerts."""
        said = _read(self._kept.state).get("raised")
        keys = [key for key in said if isinstance(key, str)] if isinstance(said, list) else []
        return frozenset(keys[:_MOST_KEYS])

    @property
    def more(self) -> dict[str, Any]:
        """Further data of the last check; empty if it was about another object."""
        said = _read(self._kept.state)
        more = said.get("more") if said.get("about") == self._about else None
        return more if isinstance(more, dict) else {}

    @property
    def own(self) -> bool:
        """Whether the last check was this probe's own, since it got the assignment."""
        return self._kept.own

    def heed(self) -> Missed | None:
        """What the starting check must read again."""
        self._kept.heeded = self._kept.back
        return self._kept.heeded

    def settle(
        self,
        measured: Sequence[MeasuredValue] = (),
        more: Mapping[str, Any] | None = None,
        unjudged: Collection[str] = (),
    ) -> tuple[bytes | None, list[Finding]]:
        """The next checkpoint with *more*, if it has changed, and the alerts raised or recovered.

        *unjudged* alerts that were not measured stay as they were. At first and now and then both are
        reported completely, changed or not; so is the checkpoint after a reread.
        """
        now = time.monotonic()
        whole = self._told is None or now - self._told >= _AGAIN_S
        raised, findings = compare(self.raised, measured, unjudged, whole=whole)
        state = orjson.dumps({"about": self._about, "raised": sorted(raised), "more": more or {}})
        if whole:
            self._told = now
        news = whole or state != self._kept.state or self._kept.heeded is not None
        return (state if news else None), findings


def changed(state: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The checkpoint *state* with a changed `more`."""
    said = _read(state)
    return orjson.dumps({**said, "more": change(said.get("more") or {})})


def _read(state: bytes) -> dict[str, Any]:
    """The parsed checkpoint; empty for invalid bytes."""
    try:
        said = orjson.loads(state)
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}
