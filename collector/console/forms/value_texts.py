"""The type of a field's label, help and choices."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.console.forms.fields import Control


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueText:
    """*none*: what an empty choice means; *words*: the choices' labels, where they differ from their names.

    *control*: overrides the control of the type. *example*: shown in an empty field.
    """

    label: str
    help: str = ""
    unit: str = ""
    none: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    control: Control | None = None
    example: str = ""
