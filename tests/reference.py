"""What of docs/ follows from the code: tables of fields, settings, metrics, kinds of events; a schema.

A page holds such a table between two comments: ``<!-- table: fields of HttpMonitorConfig -->`` and
``<!-- end -->``. ``make reference`` writes all of them again; `tests/test_reference.py` fails where a page
differs.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from prometheus_client import REGISTRY

import collector.platform.metrics  # noqa: F401 - registers the collector's metrics
from collector import apply_schema
from shared.setting_table import TABLE
from shared.settings import CollectorSettings, ProbeSettings, UpSettings
from tests.http.described import described

DOCS: Final = Path(__file__).parent.parent / "docs"
APPLY_SCHEMA: Final = DOCS / "reference" / "apply-schema.json"
_PLACE: Final = re.compile(r"(<!-- table: (\w+)(?: of (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
_ROLES: Final = {"up": UpSettings, "collector": CollectorSettings, "probe": ProbeSettings}

Schema = Mapping[str, Any]


def renewed(page: str) -> str:
    """The page with its tables as the code has them. Raises KeyError for a table that nothing makes."""
    tables = {"settings": settings, "metrics": metrics, "events": events}

    def table(place: re.Match[str]) -> str:
        rows = fields(place[3]) if place[2] == "fields" else tables[place[2]]()
        return "\n".join((place[1].rstrip(), *rows, place[4]))

    return _PLACE.sub(table, page)


def schema_text() -> str:
    """The JSON Schema of declared files, as the repository has it."""
    return json.dumps(apply_schema.build(described()), indent=1, ensure_ascii=False) + "\n"


def fields(name: str) -> Iterator[str]:
    """The fields of the schema *name*, those of objects within it by their paths; read-only ones last."""
    yield from _head("field", "type", "default", "meaning")
    schemas = described()["components"]["schemas"]
    rows = list(_fields(schemas[name], schemas, ""))
    yield from (row for read_only in (False, True) for shown, row in rows if shown is read_only)


def _fields(schema: Schema, schemas: Schema, path: str) -> Iterator[tuple[bool, str]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        if "const" in field:
            continue
        read_only = bool(field.get("readOnly"))
        default = "set by the service" if read_only else "required" if name in required else _default(field)
        yield read_only, _row(f"`{path}{name}`", _type(field, schemas), default, field["description"])
        inner, many = _object(field, schemas)
        if inner is not None:
            yield from _fields(inner, schemas, f"{path}{name}{'[]' if many else ''}.")


def _object(field: Schema, schemas: Schema) -> tuple[Schema | None, bool]:
    """The object that *field* holds, or holds a list of."""
    for variant in (field, *field.get("anyOf", ())):
        if "$ref" in variant:
            return schemas[variant["$ref"].rsplit("/", 1)[1]], False
        if "$ref" in variant.get("items", {}):
            return schemas[variant["items"]["$ref"].rsplit("/", 1)[1]], True
    return None, False


def _default(field: Schema) -> str:
    value = field.get("default")
    if value is None or value in ("", [], {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _type(field: Schema, schemas: Schema) -> str:
    if "anyOf" in field:
        kinds = [_type(variant, schemas) for variant in field["anyOf"] if variant.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in field:
        return "object"
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    kind: str = field.get("type", "any")
    if kind == "array":
        return f"list of {_type(field['items'], schemas)}"
    least, most = field.get("minimum"), field.get("maximum")
    return f"{kind}, {least} to {most}" if least is not None and most is not None else kind


def settings() -> Iterator[str]:
    """Every setting with its default, and the commands that read it."""
    yield from _head("setting", "default", "read by", "meaning")
    for name, setting in TABLE.items():
        roles = [role for role, cls in _ROLES.items() if name in cls.__annotations__]
        usual = "" if callable(setting.usual) or setting.usual is None else setting.usual
        yield _row(
            f"`TOCSIN_{name.upper()}`",
            f"`{usual}`" if usual else "",
            ", ".join(f"`{role}`" for role in roles) or "other commands",
            setting.help,
        )


def metrics() -> Iterator[str]:
    """The collector's own metrics with their kinds and labels."""
    yield from _head("metric", "kind", "meaning")
    for family in sorted(REGISTRY.collect(), key=lambda family: family.name):
        if family.name.startswith("tocsin_"):
            name = family.name + ("_total" if family.type == "counter" else "")
            yield _row(f"`{name}`", family.type, family.documentation)


def events() -> Iterator[str]:
    """Every kind of event that a webhook channel can be sent."""
    yield from _head("kind", "sent when", "payload")
    for kind, path in described()["webhooks"].items():
        operation = path["post"]
        body = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rsplit("/", 1)[1]
        yield _row(f"`{kind}`", operation["summary"], f"`{body}`")


def _head(*titles: str) -> Iterator[str]:
    yield _row(*titles)
    yield "|" + "---|" * len(titles)


def _row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"


def main() -> None:
    """Write the schema, and every page whose tables have changed."""
    APPLY_SCHEMA.write_text(schema_text())
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text()
        if (now := renewed(text)) != text:
            page.write_text(now)


if __name__ == "__main__":
    main()
