"""Reads YAML 1.2 and keeps the line of each value: ``no`` is a text, ``1:30`` is no number."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

Value: TypeAlias = "str | int | float | bool | dict[str, YamlNode] | list[YamlNode] | None"
Fault: TypeAlias = tuple[int, str]

_DEEPEST: Final = 64
# Per file, aliases expanded: a larger one is more likely a bomb than a configuration.
_MOST: Final = 500_000
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# A leading zero means a code, not a number.
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_NUMBER: Final = re.compile(
    r"(?=.*[.eE])[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?"
)
_TEXT: Final = "tag:yaml.org,2002:str"
_MERGE: Final = "<<"


@dataclass(frozen=True, slots=True)
class YamlNode:
    """*written*: a plain scalar as the file has it."""

    value: Value
    line: int
    written: str = ""


def parse(text: str) -> tuple[list[YamlNode], list[Fault]]:
    """Return the non-empty documents, and all faults, by line."""
    reader = _YamlReader()
    try:
        nodes = list(reader.documents(yaml.parse(text, Loader=_LOADER)))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        return [], [*reader.faults, (line, f"is no YAML: {error.problem or error.context}")]
    except yaml.YAMLError as error:
        return [], [*reader.faults, (1, f"is no YAML: {getattr(error, 'reason', 'it cannot be read')}")]
    except _LimitExceeded as error:
        return [], [*reader.faults, (error.line, str(error))]
    return nodes, reader.faults


def scalar(written: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar."""
    if written in _WORDS:
        return _WORDS[written]
    if _INTEGER.fullmatch(written):
        return int(written)
    number = float(written) if _NUMBER.fullmatch(written) else math.inf
    return number if math.isfinite(number) else written


class _LimitExceeded(Exception):
    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class _YamlReader:
    """Reads one file; *sizes*: the number of values below each anchor."""

    faults: list[Fault] = field(default_factory=list)
    anchors: dict[str, YamlNode] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    count: int = 0

    def documents(self, events: Iterator[Any]) -> Iterator[YamlNode]:
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.anchors.clear()
                root = self._node(events, next(events), 0)
                if root.value is not None:
                    yield root

    def _node(self, events: Iterator[Any], event: Any, depth: int) -> YamlNode:
        line = event.start_mark.line + 1
        if depth > _DEEPEST:
            raise _LimitExceeded(line, f"must not be nested deeper than {_DEEPEST}")
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, line)
        before = self.count
        self._counted(1, line)
        node = self._made(events, event, line, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
            self.sizes[event.anchor] = self.count - before
        return node

    def _alias(self, event: Any, line: int) -> YamlNode:
        """Return the node of an alias; it is complete by now, so no node can contain itself."""
        node = self.anchors.get(event.anchor)
        if node is None:
            self.faults.append((line, f"*{event.anchor} names nothing that stands before it"))
            return YamlNode(None, line)
        self._counted(self.sizes[event.anchor], line)
        return node

    def _counted(self, more: int, line: int) -> None:
        self.count += more
        if self.count > _MOST:
            raise _LimitExceeded(line, f"holds more than {_MOST} values, aliases followed")

    def _made(self, events: Iterator[Any], event: Any, line: int, depth: int) -> YamlNode:
        if event.tag not in {None, "!", _TEXT}:
            self.faults.append((line, f"tags such as {event.tag} mean nothing here"))
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0] and event.tag is None
            return YamlNode(scalar(event.value) if plain else event.value, line, event.value if plain else "")
        if isinstance(event, yaml.SequenceStartEvent):
            return YamlNode(list(self._entries(events, depth)), line)
        return YamlNode(self._mapping(events, depth), line)

    def _entries(self, events: Iterator[Any], depth: int) -> Iterator[YamlNode]:
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            yield self._node(events, event, depth + 1)

    def _mapping(self, events: Iterator[Any], depth: int) -> dict[str, YamlNode]:
        own: dict[str, YamlNode] = {}
        merged: dict[str, YamlNode] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self._key(events, event, depth)
            value = self._node(events, next(events), depth + 1)
            if key == _MERGE and event.implicit[0]:
                merged |= self._merged(value)
            elif key in own:
                first = own[key].line
                self.faults.append(
                    (event.start_mark.line + 1, f"{key} stands here again, after line {first}")
                )
            elif key is not None:
                own[key] = value
        return {**merged, **own}

    def _key(self, events: Iterator[Any], event: Any, depth: int) -> str | None:
        """Return a key as its text in the file: ``on``, ``1``."""
        if isinstance(event, yaml.ScalarEvent):
            key: str = event.value
            return key
        node = self._node(events, event, depth + 1)
        if isinstance(event, yaml.AliasEvent) and isinstance(node.value, str):
            return node.value
        self.faults.append((event.start_mark.line + 1, "a key must be a text"))
        return None

    def _merged(self, value: YamlNode) -> dict[str, YamlNode]:
        """Return the merged mapping; of equal keys the first wins."""
        listed = value.value if isinstance(value.value, list) else [value]
        found: dict[str, YamlNode] = {}
        for yaml_node in listed:
            if isinstance(yaml_node.value, dict):
                found = {**yaml_node.value, **found}
            else:
                self.faults.append((yaml_node.line, "<< takes an object, or a list of them"))
        return found
