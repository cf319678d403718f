"""The brand colour of a status page, with text on it that stays readable."""

from typing import Final

_DEFAULT: Final = "#0f766e"
_BREAK: Final = 0.04045


def brand(colour: str | None) -> tuple[str, str]:
    """The colour as #rrggbb, and black or white, whichever contrasts more with it: at least 4.5 to 1."""
    text = (colour or _DEFAULT).lower()
    whole = text if len(text) > len("#rgb") else "#" + "".join(2 * digit for digit in text[1:])
    light = _luminance(whole)
    return whole, "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#ffffff"


def _luminance(colour: str) -> float:
    """The relative luminance as WCAG 2 defines it."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= _BREAK else float(((part + 0.055) / 1.055) ** 2.4)
