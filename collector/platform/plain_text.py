"""Fits text to a provider's limits: one line, a maximum length."""

import re

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_ODD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def one_line(text: str) -> str:
    """Remove line breaks, control characters and marks that change the text direction."""
    return " ".join(_CONTROLS.sub(" ", text).split())


def lines(text: str) -> str:
    """As `one_line`, but keep line breaks."""
    return _ODD.sub(" ", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def cut(text: str, most: int) -> str:
    """Truncate to *most* characters, with an ellipsis as the last one."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def cut_utf16(text: str, most: int) -> str:
    """As `cut`, but count UTF-16 code units, as some services do."""
    if len(text.encode("utf-16-le")) // 2 <= most:
        return text
    kept = text.encode("utf-16-le")[: (most - 1) * 2].decode("utf-16-le", "ignore")
    return kept.rstrip() + "…"
