"""What the locations saw of an outage, side by side."""

from datetime import timedelta
from typing import Any

from collector.incidents.console.comparison import compare
from collector.incidents.core.postmortem import Checks
from collector.incidents.storage.evidence import EvidenceRow
from shared.clock import EPOCH

SAW: dict[str, Any] = {
    "error": "answered 500",
    "address": "192.0.2.1:443",
    "statusCode": 500,
    "phases": {"dns": 1.5, "connect": None},
}


def test_failing_locations_come_first_and_their_newest_evidence_is_shown() -> None:
    evidence = [
        EvidenceRow("tokyo", EPOCH, {**SAW, "error": "refused"}),
        EvidenceRow("tokyo", EPOCH + timedelta(seconds=9), SAW),
    ]

    seen = compare([Checks("berlin", 4, 0, None), Checks("tokyo", 4, 3, "answered 500")], evidence)

    assert [(view.location, view.failed, view.error) for view in seen.locations] == [
        ("tokyo", 3, "answered 500"),
        ("berlin", 0, None),
    ]
    assert seen.locations[0].at == EPOCH + timedelta(seconds=9)
    assert seen.phases == {"dns": "DNS"}
    assert seen.summary == "Failed at 1 of 2 locations"


def test_it_says_whether_the_locations_agree() -> None:
    same = compare([Checks("a", 1, 1, "refused"), Checks("b", 1, 1, "refused")], [])
    other = compare([Checks("a", 1, 1, "refused"), Checks("b", 1, 1, "timed out")], [])

    assert same.summary == "Failed at 2 of 2 locations, with the same error"
    assert other.summary == "Failed at 2 of 2 locations, with different errors"


def test_without_checks_and_evidence_there_is_nothing_to_compare() -> None:
    assert compare([], []).locations == []
