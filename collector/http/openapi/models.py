"""Builds schemas from dataclasses: named, with JSON's field names and docstrings as descriptions."""

import ast
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from collector.platform.answer_json import json_name, omitted
from collector.platform.answers import Omitted

Schema: TypeAlias = dict[str, Any]
# As Python docstrings write it.
_FIELD: Final = re.compile(r"\*(\w+)\*")
_DROPPED: Final = frozenset({"title", "$defs", "description"})


@dataclass(frozen=True, slots=True)
class Named:
    """A schema that is a component by its *name*; made when the document is first requested."""

    name: str
    make: Callable[[], Schema]


@dataclass(frozen=True, slots=True)
class _SchemaStyle:
    """How a dataclass becomes a schema.

    *answer*: all fields are required but the omitted ones. *partial*: none is required. *merge*: it is part
    of a JSON merge patch, where null removes a field; *deep*: only objects in it are. *names*: for classes
    whose own name is ambiguous.
    """

    answer: bool = False
    partial: bool = False
    merge: bool = False
    deep: bool = False
    names: tuple[tuple[type, str], ...] = ()


def request(
    cls: Any,
    name: str,
    *,
    partial: bool = False,
    merge: bool = False,
    deep: bool = False,
    names: tuple[tuple[type, str], ...] = (),
) -> Named:
    """Return the schema of requests with *cls*, with the options of `_SchemaStyle`."""
    way = _SchemaStyle(partial=partial or merge or deep, merge=merge, deep=merge or deep, names=names)
    return _named(cls, name, way)


def answer(cls: Any, name: str, names: tuple[tuple[type, str], ...] = ()) -> Named:
    """Return the schema of responses with *cls*."""
    return _named(cls, name, _SchemaStyle(answer=True, names=names))


@cache
def _named(cls: Any, name: str, way: _SchemaStyle) -> Named:
    return Named(name, lambda: _schema(cls, way))


def properties(cls: Any, *, partial: bool = False) -> Schema:
    """Return the schema of *cls* as in a request, for use within another."""
    return _schema(cls, _SchemaStyle(partial=partial))


def _schema(cls: Any, way: _SchemaStyle) -> Schema:
    made = TypeAdapter(cls).json_schema()
    hints = get_type_hints(cls, include_extras=True)
    below = {each.__name__: each for each in _classes(hints.values())}
    described = descriptions(cls)
    known = {
        name: _property(each, made.get("$defs", {}), below, way) | _described(described.get(name))
        for name, each in made["properties"].items()
    }
    if way.answer:
        known = {name: _shown(each, omitted(hints[name])) for name, each in known.items()}
    required = [name for name in known if _required(name, hints[name], made, way)]
    if way.partial:
        known = {name: _without_default(each, way) for name, each in known.items()}
    about = _first_words(cls)
    return {
        "type": "object",
        **_described(about),
        "properties": {json_name(name): each for name, each in known.items()},
        **({"required": [json_name(name) for name in required]} if required else {}),
    }


def _required(name: str, hint: Any, made: Schema, way: _SchemaStyle) -> bool:
    if way.answer:
        return omitted(hint) is None
    return not way.partial and name in made.get("required", ())


def _shown(schema: Schema, mark: Omitted | None) -> Schema:
    """Return the schema without a default, which responses do not need; null only where it is shown."""
    bare = {key: value for key, value in schema.items() if key != "default"}
    if mark is None or mark.null or "anyOf" not in bare:
        return bare
    options = [item for item in bare.pop("anyOf") if item != {"type": "null"}]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **bare}


def _property(schema: Any, defs: Mapping[str, Any], below: Mapping[str, type], way: _SchemaStyle) -> Any:
    """Return pydantic's *schema* with components where it refers to a dataclass."""
    if isinstance(schema, list):
        return [_property(each, defs, below, way) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        rest = {key: value for key, value in schema.items() if key not in {"$ref", *_DROPPED}}
        if name in below:
            return {**rest, **_reference(below[name], way)}
        return {**rest, **_property(defs[name], defs, below, way)}
    # A merge patch replaces whole lists.
    inner = _SchemaStyle(answer=way.answer, names=way.names)
    return {
        key: value
        if key in {"default", "const", "enum", "examples", "required"}
        else _property(value, defs, below, inner if key == "items" else way)
        for key, value in schema.items()
        if key not in _DROPPED
    }


def _reference(cls: type, way: _SchemaStyle) -> Schema:
    name = dict(way.names).get(cls, cls.__name__)
    if way.answer and cls in dict(way.names):
        # It is stored as it was sent.
        return {"allOf": [_named(cls, name, _SchemaStyle(names=way.names))]}
    inner = _SchemaStyle(answer=way.answer, partial=way.deep, merge=way.deep, deep=way.deep, names=way.names)
    return {"allOf": [_named(cls, f"{name}Changes" if way.deep else name, inner)]}


def _without_default(schema: Schema, way: _SchemaStyle) -> Schema:
    bare = {key: value for key, value in schema.items() if key != "default"}
    return _nullable(bare) if way.merge else bare


def _nullable(schema: Schema) -> Schema:
    """Return the schema with null allowed; the description stays outside."""
    options = schema.get("anyOf", [])
    if {"type": "null"} in options or schema.get("type") == "null":
        return schema
    outside = {key: schema[key] for key in ("description",) if key in schema}
    rest = {key: value for key, value in schema.items() if key not in outside}
    return {"anyOf": [*(options or [rest]), {"type": "null"}], **outside}


def _described(text: str | None) -> Schema:
    return {"description": text} if text else {}


def _first_words(cls: type) -> str | None:
    """Return the first paragraph of the class's docstring; None without one of its own."""
    text = inspect.cleandoc(cls.__doc__ or "")
    return None if text.startswith(f"{cls.__name__}(") else _plain(text.partition("\n\n")[0])


def _plain(text: str) -> str:
    """Return the text on one line, code in backticks, fields by their JSON names."""
    named = _FIELD.sub(lambda match: f"`{json_name(match[1])}`", text.replace("``", "`"))
    return " ".join(named.split())


@cache
def descriptions(cls: Any) -> Mapping[str, str]:
    """Return the docstrings under the fields of a dataclass, by the fields' names."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if "__dataclass_fields__" in vars(base):
            found |= _docstrings(_class_nodes(base.__module__)[base.__name__])
    return found


def _docstrings(node: ast.ClassDef) -> dict[str, str]:
    return {
        field.target.id: _plain(docstring.value.value)
        for field, docstring in pairwise(node.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(docstring, ast.Expr)
        and isinstance(docstring.value, ast.Constant)
        and isinstance(docstring.value.value, str)
    }


@cache
def _class_nodes(module: str) -> Mapping[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _classes(hints: Any) -> Iterator[type]:
    """Yield the dataclasses that fields with these *hints* may contain, at any depth."""
    for hint in hints:
        if isinstance(hint, type) and is_dataclass(hint):
            yield hint
            yield from _classes(get_type_hints(hint, include_extras=True).values())
        elif get_origin(hint) is Annotated:
            yield from _classes(get_args(hint)[:1])
        elif get_origin(hint) in {Union, types.UnionType} or get_args(hint):
            yield from _classes(get_args(hint))


class Components:
    """Collects the named schemas of a document and replaces them by references."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}
        self._known: dict[str, Named] = {}

    def settled(self, value: Any) -> Any:
        """Return *value* with references for each `Named`. Raises ValueError for one name of two schemas."""
        if isinstance(value, Named):
            self._keep(value)
            return {"$ref": f"#/components/schemas/{value.name}"}
        if isinstance(value, Mapping):
            return _unwrapped({key: self.settled(each) for key, each in value.items()})
        if isinstance(value, list | tuple):
            return [self.settled(each) for each in value]
        return value

    def _keep(self, named: Named) -> None:
        known = self._known.setdefault(named.name, named)
        if known is named and named.name in self.schemas:
            return
        if known is not named:
            if self.settled(named.make()) != self.schemas[named.name]:
                msg = f"two schemas are called {named.name}"
                raise ValueError(msg)
            return
        # It may refer to itself.
        self.schemas[named.name] = {}
        self.schemas[named.name] = self.settled(named.make())


def _unwrapped(schema: Schema) -> Schema:
    """Unwrap ``allOf`` around a single reference: other keys may be beside it."""
    if schema.get("allOf") and len(schema["allOf"]) == 1 and "$ref" in schema["allOf"][0]:
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        return {**schema["allOf"][0], **rest}
    return schema
