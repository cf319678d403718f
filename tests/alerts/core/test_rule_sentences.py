"""An alert rule as a sentence."""

from typing import Any

import pytest

from collector.alerts.core.rule_sentences import RuleParts, SentencePart, sentence, text


def parts(**changes: Any) -> RuleParts:
    usual: dict[str, Any] = {
        "every": True, "monitors": [], "tags": [], "every_tag": False, "conditions": {}, "channels": ["Ops"],
        "repeat_minutes": None, "recovery": False,
    }  # fmt: skip
    return RuleParts(**{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "When any monitor goes down, notify Ops."),
        ({"recovery": True}, "When any monitor goes down, notify Ops, and on recovery."),
        ({"channels": []}, "When any monitor goes down, notify nobody."),
        (
            {
                "every": False, "monitors": ["shop", "till"], "conditions": {"consecutiveFailures": 3},
                "delay_minutes": 15, "later": ["Lead"],
            },
            "When shop or till is down for 3 checks, notify Ops, then after 15 min Lead.",
        ),
        (
            {"delay_minutes": 90, "later": ["Lead", "Boss"], "steps": 3},
            "When any monitor goes down, notify Ops, then after 1 h 30 min Lead and Boss (3 times).",
        ),
        (
            {"every": False, "monitors": ["a", "b", "c", "d"], "channels": ["Ops", "Mail", "Chat"]},
            "When any of 4 monitors goes down, notify Ops, Mail and Chat.",
        ),
        (
            {"every": False, "tags": ["team:shop", "critical"]},
            "When any monitor tagged team:shop or critical goes down, notify Ops.",
        ),
        (
            {"every": False, "monitors": ["a"], "tags": ["x:1", "y:2"], "every_tag": True},
            "When a or any monitor tagged x:1 and y:2 goes down, notify Ops.",
        ),
        (
            {"every": False},
            "When no monitor (the selected ones were deleted) goes down, notify Ops.",
        ),
        (
            {"conditions": {"consecutiveFailures": 1, "locations": "any"}, "repeat_minutes": 30},
            "When any monitor is down for 1 check at any location, notify Ops again every 30 min.",
        ),
        (
            {"conditions": {"latencyThresholdMs": 800, "statusCode": 503, "match": "any"}},
            "When any monitor is slower than 800 ms or answers with status 503, notify Ops.",
        ),
        (
            {
                "conditions": {
                    "errorRatePercent": 20.0, "windowMinutes": 60, "availability": 99.9, "match": "all",
                },
            },
            (
                "When any monitor fails 20 % of its checks within 1 h and "
                "was up for less than 99.9 % of the last 24 h, notify Ops."
            ),
        ),
    ],
)  # fmt: skip
def test_a_rule_reads_as_a_sentence(changes: dict[str, Any], expected: str) -> None:
    assert text(sentence(parts(**changes))) == expected


def test_what_is_set_is_strong() -> None:
    assert sentence(parts(conditions={"statusCode": 500}))[:3] == [
        SentencePart("When"),
        SentencePart("any monitor", strong=True),
        SentencePart("answers with status 500", strong=True),
    ]
