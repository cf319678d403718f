"""Fits text to a provider's limits: one line, a maximum length."""

import re

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def one_line(text: str) -> str:
    """Without line breaks, controls and marks that turn the direction of what follows."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def lines(text: str) -> str:
    """As `one_line`, but line breaks stay."""
    return _ODD.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def cut(text: str, most: int) -> str:
    """At most *most* characters, the last an ellipsis where some are missing."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut_utf16(text: str, most: int) -> str:
    """As `cut`, counting as those services do that count UTF-16 code units."""
    if len(text.encode("utf-16-le")) // 2 <= most:
        return text
    kept = text.encode("utf-16-le")[: (most - 1) * 2].decode("utf-16-le", "ignore")
    return kept.rstrip() + "…"
