"""Templates of incidents: their variables."""

from dataclasses import replace

import pytest

from collector.status_pages.core.incident_templates import VARIABLES, IncidentTemplateSettings, fill


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{component} is slow", "API is slow"),
        ("{component}{component}", "APIAPI"),
        ("{page}: {began}", "{page}: {component}"),
        ("{{component}} { component } {0} {}", "{API} { component } {0} {}"),
        ("{component.__class__} {component!r} %s", "{component.__class__} {component!r} %s"),
        ("", ""),
    ],
)
def test_known_variables_are_replaced_once_and_other_braces_stay(text: str, filled: str) -> None:
    assert fill(text, {"component": "API", "began": "{component}"}) == filled


@pytest.mark.parametrize("field", ["title", "message"])
def test_an_unknown_variable_is_a_fault(field: str) -> None:
    slow = IncidentTemplateSettings(name="Slow", title="It is slow", message="We look into it")
    if field == "title":
        misspelt = replace(slow, title="{componnent} is slow")
    else:
        misspelt = replace(slow, message="{componnent} is slow")

    faults = misspelt.faults()

    assert slow.faults() == {}
    assert list(faults) == [field]
    assert "{componnent}" in faults[field]
    assert "{component}, {page}, {began}, {lasted}" in faults[field]


def test_every_variable_is_known_in_both_texts() -> None:
    text = " ".join(f"{{{name}}}" for name in VARIABLES)

    assert IncidentTemplateSettings(name="All", title=text, message=text).faults() == {}


def test_maintenance_sets_no_status_at_once() -> None:
    settings = IncidentTemplateSettings(
        name="Upgrade",
        title="Upgrade",
        message="Soon",
        severity="maintenance",
        component_status="maintenance",
    )

    assert list(settings.faults()) == ["componentStatus"]
