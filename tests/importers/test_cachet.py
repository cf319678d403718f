"""Answers of Cachet as a status page."""

from typing import Any

import pytest

from collector.importers.core import cachet
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish

OLD = {
    "components": {
        "meta": {"pagination": {"total": 5}},
        "data": [
            {"id": 1, "name": "Shop", "description": "Sells", "group_id": 2, "order": 2, "enabled": True},
            {"id": 2, "name": "Cart", "group_id": 2, "order": 1, "link": "https://cart.example.com"},
            {"id": 3, "name": "Blog", "group_id": 0, "order": 1, "enabled": True},
            {"id": 4, "name": "Old", "group_id": 0, "enabled": False},
            {"id": 5, "name": "Admin", "group_id": 3, "enabled": True},
            {"id": 6, "name": "Blog", "group_id": 0, "order": 2},
        ],
    },
    "groups": [
        {"id": 2, "name": "Web", "order": 1, "collapsed": 0},
        {"id": 3, "name": "Inner", "order": 2, "visible": 0},
    ],
    "incidents": {"data": [{"id": 1}, {"id": 2}]},
    "subscribers": [{"id": 1}],
    "settings": {"app_name": "Example", "app_about": "We sell."},
}


def left_out(draft: Draft) -> dict[str, str]:
    return {
        line.origin.place: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


def test_cachet_2() -> None:
    draft = cachet.draft(OLD)
    [page] = finish(draft)["statusPages"]
    assert (page["key"], page["name"]) == ("cachet-page", "Example")
    assert page["components"] == [
        {"name": "Cart", "group": "Web"},
        {"name": "Shop", "description": "Sells", "group": "Web"},
        {"name": "Blog"},
    ]
    assert left_out(draft) == {
        "component 4": "is switched off there",
        "component 5": "is in a group that only people who signed in see",
        "component 6": "another component of its group has its name",
    }
    assert draft.report.behind == {"incidents": 2, "subscribers": 1}
    differing = {
        line.origin.name: line.reasons
        for line in draft.report.lines
        if line.reasons and line.outcome is not ImportOutcome.LEFT_OUT
    }
    assert differing == {
        "Cart": ["its link https://cart.example.com is not carried"],
        "Example": ["its text about it is not carried"],
    }


def test_cachet_3() -> None:
    group = {"data": {"type": "componentGroups", "id": "7"}}
    draft = cachet.draft(
        {
            "components": [
                {
                    "data": [
                        {
                            "id": "1",
                            "attributes": {"name": "Api", "order": 1},
                            "relationships": {"group": group},
                        }
                    ]
                },
                {"data": [{"id": "2", "attributes": {"name": "Late", "enabled": True}}]},
            ],
            "component-groups": {"data": [{"id": "7", "attributes": {"name": "Core", "visible": 1}}]},
        }
    )
    [page] = finish(draft)["statusPages"]
    assert page["components"] == [{"name": "Api", "group": "Core"}, {"name": "Late"}]
    assert draft.report.complete


def test_an_answer_alone_is_its_components() -> None:
    [page] = finish(cachet.draft({"data": [{"id": 1, "name": "Shop"}]}))["statusPages"]
    assert page["components"] == [{"name": "Shop"}]


@pytest.mark.parametrize("document", [None, {}, "x", 5, {"components": 5}])
def test_something_else_is_refused(document: Any) -> None:
    with pytest.raises(WrongSource):
        cachet.draft(document)
