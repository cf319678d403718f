"""Writes YAML that reads back the same as version 1.1 and as 1.2."""

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from collector.declarative.cli.yaml import scalar

_KEPT: Final = re.compile(r"\$\{([A-Z0-9_]+)\?\}")
_PREFIX: Final = "tag:yaml.org,2002:"
_WIDTH: Final = 4096
_SECRETS: Final = """\
# Secrets are not written. Each stands as ${NAME?}: what the variable NAME says where tocsin apply runs, or,
# while that is not set, what is there already. To make them elsewhere, set:
"""


def text(sections: Mapping[str, Any], head: str) -> str:
    """Return the file, without secrets, below *head*: whole lines of comment."""
    named = sorted(set(_KEPT.findall(str(sections))))
    head += _SECRETS + "".join(f"#   {name}\n" for name in named) if named else ""
    parts = [
        yaml.serialize(_node({name: listed}), Dumper=yaml.SafeDumper, allow_unicode=True, width=_WIDTH)
        for name, listed in sections.items()
    ]
    return "\n".join([head, *parts])


def _node(value: Any) -> yaml.Node:
    if isinstance(value, Mapping):
        pairs = [(_node(str(name)), _node(one)) for name, one in value.items()]
        return yaml.MappingNode(f"{_PREFIX}map", pairs, flow_style=not pairs)
    if isinstance(value, list):
        flow = all(isinstance(item, str | int | float) for item in value)
        return yaml.SequenceNode(f"{_PREFIX}seq", [_node(item) for item in value], flow_style=flow)
    return _scalar(value)


def _scalar(value: Any) -> yaml.ScalarNode:
    if isinstance(value, bool) or value is None:
        kind = "null" if value is None else "bool"
        return yaml.ScalarNode(f"{_PREFIX}{kind}", {None: "null", True: "true", False: "false"}[value])
    if isinstance(value, int):
        return yaml.ScalarNode(f"{_PREFIX}int", str(value))
    if isinstance(value, float):
        return yaml.ScalarNode(f"{_PREFIX}float", _number(value))
    return yaml.ScalarNode(f"{_PREFIX}str", value, style=_style(value))


def _style(value: str) -> str | None:
    """Return the quotes of a text; None where the library may choose."""
    if any(map(_is_odd, value)):
        return '"'  # only these keep line breaks other than \n, such as U+0085
    if "\n" in value and not value.startswith((" ", "\n")):
        return "|"
    return None if isinstance(scalar(value), str) else "'"


def _number(value: float) -> str:
    """Return the number with a dot: YAML 1.1 reads ``1e+16`` as a text."""
    mantissa, exponent, power = repr(value).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + exponent + power


def _is_odd(letter: str) -> bool:
    return letter != "\n" and not letter.isprintable()
