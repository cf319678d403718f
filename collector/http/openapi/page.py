"""Renders the operations of the OpenAPI document as HTML."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from collector.http.openapi import curl

# Where the form of an operation stands for those who may try it.
TRY_IT: Final = "<!-- try it -->"
_DEEPEST: Final = 5
_BOUNDS: Final = {"minimum": "from", "maximum": "to", "maxLength": "up to", "maxItems": "up to"}


def article(document: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Render an operation with its curl command, the place TRY_IT, parameters, body and answers."""
    name = escape(operation["operationId"])
    command = curl.command(document["servers"][0]["url"], method, path, operation)
    return "".join(
        [
            f'<article id="{name}"><h2><a href="#{name}">{words(operation["summary"])}</a></h2>',
            f'<p><code><span class="m {method}">{method.upper()}</span> {escape(path)}</code></p>',
            f'<p class="soft">{escape(operation.get("description", "Needs no token."))}</p>',
            copied(command),
            TRY_IT,
            _parameters(operation["parameters"]),
            _body(document, operation.get("requestBody")),
            _responses(document, operation["responses"]),
            "</article>",
        ]
    )


def copied(code: str) -> str:
    """Render *code* with a button that copies it, which a script shows."""
    button = '<button type="button" data-copy hidden>Copy</button>'
    return f'<div class="code">{button}<pre tabindex="0">{escape(code)}</pre></div>'


def _parameters(parameters: list[Mapping[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{parameter['in']}</td>"
        f"<td>{escape(_type(parameter['schema']))}</td>"
        f"<td>{escape(parameter.get('description', ''))}</td></tr>"
        for parameter in parameters
    )
    head = "<tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr>"
    return f'<div class="wide" tabindex="0"><table>{head}{rows}</table></div>' if rows else ""


def _body(document: Mapping[str, Any], body: Mapping[str, Any] | None) -> str:
    if body is None:
        return ""
    content = body["content"]["application/json"]
    schema = _resolved(document, content["schema"])
    tables = "".join(
        _fields(document, item, _name(item) if "oneOf" in schema else "Fields")
        for item in schema.get("oneOf", [content["schema"]])
    )
    return f"<p>Body</p>{tables}"


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], title: str) -> str:
    """Render a table of an object's fields, and one for each object in them."""
    known, required = _members(document, schema)
    rows, below = "", ""
    for name, each in known.items():
        rows += (
            f"<tr><td><code>{escape(name)}</code></td><td>{escape(_type(each))}</td>"
            f"<td>{'required' if name in required else _usual(each)}</td>"
            f"<td>{words(each.get('description', ''))}</td></tr>"
        )
        below += "".join(
            _fields(document, one, f"{name}: {_name(one)}" if "$ref" in one else name)
            for one in _objects(document, each)
            if _members(document, one)[0]
        )
    head = "<tr><th>Field</th><th>Type</th><th>Without it</th><th>Meaning</th></tr>"
    table = f'<div class="wide" tabindex="0"><table>{head}{rows}</table></div>'
    return f"<details><summary>{escape(title)}</summary>{table}</details>{below}"


def _members(document: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Return the fields of an object, inherited ones included, and which are required."""
    found = _resolved(document, schema)
    known, required = dict(found.get("properties", {})), set(found.get("required", []))
    for item in found.get("allOf", []):
        more, needed = _members(document, item)
        known, required = {**more, **known}, required | needed
    return known, required


def _objects(document: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the objects that a field may be, or contain in a list."""
    found = _resolved(document, schema)
    for key in ("anyOf", "oneOf"):
        if key in found:
            return [one for each in found[key] for one in _objects(document, each)]
    return _objects(document, found["items"]) if "items" in found else [schema]


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _usual(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return "" if default is None else f"<code>{escape(json.dumps(default))}</code>"


def _responses(document: Mapping[str, Any], responses: Mapping[str, Any]) -> str:
    shown, rows = "", ""
    for status, response in responses.items():
        found = _resolved(document, response)
        rows += f"<tr><td><code>{status}</code></td><td>{words(found['description'])}</td></tr>"
        schema = found.get("content", {}).get("application/json", {}).get("schema")
        if status.startswith("2") and schema is not None:
            shown = f"<p>Answer {status}</p>{_json(_example(document, schema))}"
    return f"{shown}<details><summary>All statuses</summary><table>{rows}</table></details>"


def _example(document: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> Any:
    """Return an example of *schema*."""
    schema = _resolved(document, schema)
    if schema.get("examples"):
        return schema["examples"][0]
    if depth >= _DEEPEST:
        return None
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _example(document, schema[key][0], depth + 1)
    if "items" in schema:
        return [_example(document, schema["items"], depth + 1)]
    known, required = _members(document, schema)
    if known:
        return {name: _example(document, each, depth + 1) for name, each in known.items() if name in required}
    return {} if "object" in schema.get("type", "") else None


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = schema
    while "$ref" in found:
        place: Any = document
        for part in found["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        found = place
    return dict(found)


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type in words."""
    if "$ref" in schema:
        return _name(schema)
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(item) for item in schema["anyOf"]))
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    kinds = schema.get("type", "")
    kind = " or ".join(kinds) if isinstance(kinds, list) else kinds
    return " ".join([kind, *(f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema)])


def _json(value: Any) -> str:
    return f'<pre tabindex="0">{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>'


def words(text: str) -> str:
    """Return *text* in HTML, with code for backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
