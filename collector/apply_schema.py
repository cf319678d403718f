"""The JSON Schema of the files of ``tocsin apply``: what creates each resource, with keys in place of ids."""

from collections.abc import Mapping
from typing import Any, Final

from collector.declarative.answers import Section

_CREATED_AT: Final[Mapping[Section, str]] = {
    "monitors": "/v1/monitors",
    "channels": "/v1/alert-channels",
    "rules": "/v1/alert-rules",
    "maintenanceWindows": "/v1/maintenance-windows",
    "statusPages": "/v1/status-pages",
    "incidentTemplates": "/v1/incident-templates",
}
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_COMPONENTS: Final = "#/components/schemas/"
_DEFINITIONS: Final = "#/$defs/"
_KEY: Final = {
    "type": "string",
    "description": "Key of the resource, by which it is known also after a new name; without it its name.",
}


def build(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema, made of the OpenAPI *document*."""
    schemas = document["components"]["schemas"]
    definitions: dict[str, Any] = {}
    sections = {
        section: {"type": "array", "items": _item(document["paths"][path], schemas, definitions)}
        for section, path in _CREATED_AT.items()
    }
    return {
        "$schema": _DIALECT,
        "title": "Files of tocsin apply",
        "type": "object",
        "properties": {
            "set": {"type": "string", "description": "Name of the set of files; without it `default`."},
            **sections,
        },
        "patternProperties": {"^x-": {"description": "For anchors: ignored."}},
        "additionalProperties": False,
        "$defs": dict(sorted(definitions.items())),
    }


def _item(
    operations: Mapping[str, Any], schemas: Mapping[str, Any], definitions: dict[str, Any]
) -> dict[str, Any]:
    request = operations["post"]["requestBody"]["content"]["application/json"]["schema"]
    return {
        "allOf": [_moved(request, schemas, definitions)],
        "properties": {"key": _KEY},
        "unevaluatedProperties": False,  # a misspelt field
    }


def _moved(value: Any, schemas: Mapping[str, Any], definitions: dict[str, Any]) -> Any:
    """Return a schema with its references to *definitions*, to which it adds what they name."""
    if isinstance(value, list):
        return [_moved(item, schemas, definitions) for item in value]
    if not isinstance(value, Mapping):
        return value
    moved = {
        name: _moved(item, schemas, definitions) for name, item in value.items() if name != "discriminator"
    }
    if isinstance(value.get("$ref"), str):
        name = value["$ref"].removeprefix(_COMPONENTS)
        moved["$ref"] = _DEFINITIONS + name
        if name not in definitions:
            definitions[name] = {}  # before its own references, which may lead back here
            definitions[name] = _moved(schemas[name], schemas, definitions)
    return moved
