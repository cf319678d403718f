"""The type of a field's label, help and choices."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.console.forms.fields import Control


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueText:
    """*none*: what an empty choice means; *words*: what the choices are called, where not by their names.

    *control*: instead of the one that goes by the type.
    """

    label: str
    help: str = ""
    unit: str = ""
    none: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    control: Control | None = None
