"""Templates of incidents on status pages: their fields, and the variables in their texts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from collector.status_pages.core.fields import Message, Name
from collector.status_pages.core.status_page import Phase, Severity, Status

# What a template may name, and what stands for it in the form of an incident.
VARIABLES: Final[Mapping[str, str]] = {
    "component": "names of the affected components",
    "page": "name of the status page",
    "began": "when the incident began",
    "lasted": "how long it has lasted",
}
_VARIABLE: Final = re.compile(r"\{([A-Za-z_]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTemplateSettings:
    """The writable fields of a template."""

    name: Name
    """Name of the template in the team, 1 to 255 characters."""
    title: Name
    """Title of the incident; may have variables, as `Problem with {component}`."""
    status: Phase = "investigating"
    """Phase that the incident begins in."""
    severity: Severity = "minor"
    """Severity of the incident; a template of `maintenance` is offered for maintenance alone."""
    component_status: Status | None = None
    """Status that the affected components show while the incident is open."""
    message: Message
    """Text of the first update, in Markdown; may have the variables `{component}`, `{page}`, `{began}` and
    `{lasted}`.
    """

    def faults(self) -> dict[str, str]:
        """Every variable is known, and maintenance sets no status at once."""
        faults = {
            name: f"has an unknown variable {{{unknown}}}: {known_variables()} are known"
            for name, text in (("title", self.title), ("message", self.message))
            if (unknown := _unknown(text)) is not None
        }
        if self.severity == "maintenance" and self.component_status is not None:
            faults["componentStatus"] = "is not for maintenance"
        return faults


def known_variables() -> str:
    """Return the variables as they are written: ``{component}, {page}, ...``."""
    return ", ".join(f"{{{name}}}" for name in VARIABLES)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Replace the variables of *text*; other braces stay, also those in the *values*."""
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def _unknown(text: str) -> str | None:
    return next((name for name in _VARIABLE.findall(text) if name not in VARIABLES), None)
