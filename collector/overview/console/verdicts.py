"""The verdict of the first page and of the wall in the visitor's language."""

from collections.abc import Mapping
from typing import Final

from collector.console.language import ngettext, translate
from collector.overview.service.overview import OverviewVerdict

_COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "down": ("%(num)s monitor is down", "%(num)s monitors are down"),
    "degraded": ("%(num)s monitor is degraded", "%(num)s monitors are degraded"),
    "flapping": ("%(num)s monitor is flapping", "%(num)s monitors are flapping"),
    "unmeasured": ("%(num)s monitor is not measured", "%(num)s monitors are not measured"),
}


def text(verdict: OverviewVerdict) -> str:
    """Return the sentence of *verdict*."""
    if verdict.state:
        return ngettext(*_COUNTED[verdict.state], verdict.count)
    return translate(verdict.text)
