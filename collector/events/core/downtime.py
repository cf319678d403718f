"""The downtime of an incident, in seconds and in words."""

from datetime import datetime

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def seconds(closed_s: int, open_since: datetime | None, until: datetime) -> int:
    """Seconds of the closed spans, plus the open one up to *until*."""
    if open_since is None:
        return closed_s
    return closed_s + max(0, int((until - open_since).total_seconds()))


def formatted(duration_s: int) -> str:
    """``45s``, ``5m 32s``, ``2h 5m``, ``3d 4h``: the two largest units, without zeros."""
    rest, parts = max(0, duration_s), []
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        parts.append((count, unit))
    first = next((place for place, (count, _) in enumerate(parts) if count), len(parts) - 1)
    shown = [f"{count}{unit}" for count, unit in parts[first : first + 2] if count]
    return " ".join(shown) or "0s"
