"""Building blocks of the OpenAPI document: short schemas, and the operation of a route."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from collector.http.openapi.models import Named, Schema, answer
from collector.platform.answers import PageMeta

_SOME_DIGITS = "01kahb5m7q8x9t3v2c4d6e0f1g"
_SOME_MOMENT = "2026-11-21T07:24:00.000Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A route's operation; *answer* None: no body in the response. *body*: the request's, with an *example*.

    *tagged*: responds with an ETag and supports If-None-Match or If-Match. *needs_body*: it is required.
    *more*: further error statuses. *headers*: response headers that no other route has.
    """

    summary: str
    answer: Schema | Named | None = None
    status: int = 200
    media: str = "application/json"
    body: Schema | Named | None = None
    example: Any = None
    query: Sequence[Schema] = ()
    tagged: bool = False
    needs_body: bool = True
    more: Mapping[int, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


def text(example: str = "shop", **more: Any) -> Schema:
    return {"type": "string", "examples": [example], **more}


def whole(example: int = 1, **more: Any) -> Schema:
    return {"type": "integer", "examples": [example], **more}


def number(example: float = 99.95, **more: Any) -> Schema:
    return {"type": "number", "examples": [example], **more}


def flag(example: bool = True) -> Schema:
    return {"type": "boolean", "examples": [example]}


def moment() -> Schema:
    return text(_SOME_MOMENT, format="date-time")


def day() -> Schema:
    return text("2026-11-21", format="date")


def id_(prefix: str) -> Schema:
    return text(f"{prefix}_{_SOME_DIGITS}", pattern=f"^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$")


def choice(*words: str) -> Schema:
    return {"type": "string", "enum": list(words), "examples": [words[0]]}


def const(word: str, description: str) -> Schema:
    """A single text value."""
    return {"type": "string", "const": word, "examples": [word], "description": description}


def many(item: Schema | Named) -> Schema:
    return {"type": "array", "items": item}


def maybe(schema: Schema | Named) -> Schema:
    """The schema, or null."""
    if (
        isinstance(schema, Named)
        or "$ref" in schema
        or "enum" in schema
        or not isinstance(schema.get("type"), str)
    ):
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def free(example: Any = None) -> Schema:
    """An object with any keys."""
    return {"type": "object", "examples": [example or {}]}


def mapping(value: Schema | Named) -> Schema:
    """An object with any keys and values of one kind."""
    return {"type": "object", "additionalProperties": value}


def record(optional: Sequence[str] = (), /, **properties: Schema | Named) -> Schema:
    """An object; all of its fields are required but the *optional* ones. More may be added later."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def plus(schema: Schema, **properties: Schema | Named) -> Schema:
    """A record with more fields."""
    required = [*schema.get("required", []), *properties]
    return {**schema, "properties": {**schema["properties"], **properties}, "required": required}


def warned(schema: Schema) -> Schema:
    """A record that may have warnings."""
    warnings = many(text("unknown field colour was ignored"))
    return {**schema, "properties": {**schema["properties"], "warnings": warnings}}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_PAGE_META = answer(PageMeta, "PageMeta")


def page(item: Named) -> Named:
    """A page of a list."""
    return Named(f"{item.name}Page", lambda: _list(item))


def listing(item: Named) -> Named:
    """A list that is complete unless a page is requested."""
    return Named(f"{item.name}List", lambda: _list(item, ("meta",)))


def _list(item: Named, optional: Sequence[str] = ()) -> Schema:
    return record(
        optional,
        data={**many(item), "description": "The items."},
        meta={"allOf": [_PAGE_META], "description": "Which page it is."},
    )


def query(name: str, schema: Schema, description: str, *, required: bool = False) -> Schema:
    """A query parameter."""
    return {
        "name": name,
        "in": "query",
        "required": required,
        "description": description,
        "schema": {key: value for key, value in schema.items() if key != "examples"},
    }


PAGED = (
    query("page", whole(1, minimum=1), "Which page, from 1"),
    query("limit", whole(20, minimum=1), "How many items; more than 100 is taken for 100"),
)
SPAN = (
    query("from", text(), "The first moment: an RFC 3339 timestamp, or a date"),
    query("to", text(), "The last moment: an RFC 3339 timestamp, or a date, which means its end"),
)


def named(name: str, schema: Schema) -> Named:
    """Return *schema* as a component."""
    return Named(name, lambda: schema)


def one_of(name: str, by: str, choices: Mapping[str, Named], about: str) -> Named:
    """One of several records, distinguished by their field *by*."""
    schema = {
        "description": about,
        "type": "object",
        "required": [by],
        "oneOf": list({each.name: each for each in choices.values()}.values()),
        "discriminator": {
            "propertyName": by,
            "mapping": {word: f"#/components/schemas/{each.name}" for word, each in choices.items()},
        },
    }
    return named(name, schema)


def together(name: str, base: Named, more: Callable[[], Schema]) -> Named:
    """The fields of *base*, and *more*."""
    return Named(name, lambda: {"allOf": [base, more()]})
