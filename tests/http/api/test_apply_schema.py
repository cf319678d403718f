"""The JSON Schema of declared files: what apply takes it takes, and a misspelt field it does not."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from collector import apply_schema
from collector.declarative.cli.files import ConfigurationFile, read
from collector.declarative.service.kinds import SECTIONS
from tests.http.client import Api
from tests.http.described import described
from tests.monitors.declared import everything
from tests.reference import APPLY_SCHEMA, DOCS, schema_text

EXAMPLE = re.compile(r"^```yaml\n((?:monitors|channels):.*?)^```", re.DOTALL | re.MULTILINE)
VARIABLE = re.compile(r"\$\{(?:file:)?[^}]*\}")
SHOP = {"name": "Shop", "type": "http", "config": {"url": "https://shop.example.com/"}}


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    made = apply_schema.build(described())
    Draft202012Validator.check_schema(made)
    return Draft202012Validator(made)


def faults(schema: Draft202012Validator, document: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in schema.iter_errors(document)]


def test_it_has_every_section_and_takes_everything_that_apply_takes(schema: Draft202012Validator) -> None:
    assert set(SECTIONS) <= set(apply_schema.build(described())["properties"])
    assert faults(schema, everything()) == []


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_it_takes_the_examples_of_the_pages(schema: Draft202012Validator, page: Path) -> None:
    for number, text in enumerate(EXAMPLE.findall(page.read_text())):
        plain = VARIABLE.sub("https://example.com", text)
        file = ConfigurationFile(f"{page.name} {number}", page.parent, plain.encode())
        assert faults(schema, read([file], {}).sections) == []


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"monitor": [SHOP]}, "'monitor' does not match"),
        ({"monitors": [{**SHOP, "intervall": 60}]}, "'intervall' was unexpected"),
        ({"monitors": [{**SHOP, "interval": "1m"}]}, "'1m'"),
        ({"monitors": [{**SHOP, "type": "htpp"}]}, "'htpp'"),
        ({"rules": [{"conditions": {}}]}, "'name' is a required property"),
    ],
)
def test_a_mistake_is_found(schema: Draft202012Validator, document: Any, text: str) -> None:
    assert text in json.dumps(faults(schema, document), ensure_ascii=False)


def test_the_repository_has_it_as_it_is_made() -> None:
    assert APPLY_SCHEMA.read_text() == schema_text(), "make reference writes it again"


async def test_it_is_served_to_everybody(api: Api) -> None:
    answer = await api.with_token(None).get("/v1/apply-schema.json")
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/schema+json")
    assert set(answer.json["properties"]) == {"set", *SECTIONS}
