"""Bounds and defaults of the API's models, for forms."""

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from collector.platform.validation.shapes import Member, Shape, members, shape
from collector.platform.validation.validation import to_json
from shared.kinds.fields import camel

__all__ = ["Member", "Shape", "defaults", "members", "shape"]


def defaults(cls: Any) -> dict[str, Any]:
    """The default of each field that has one, as the API shows it."""
    found: dict[str, Any] = {}
    for field in fields(cls):
        if field.default is not MISSING:
            found[camel(field.name)] = _plain(field.default)
        elif field.default_factory is not MISSING:
            found[camel(field.name)] = _plain(field.default_factory())
    return found


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return to_json(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
