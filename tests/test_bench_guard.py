"""The arithmetic of `make bench-guard`: what it lets pass, and what it reports."""

import json
from pathlib import Path

import pytest

from tests.bench.ratios import Compared, Memory, kept, recorded, report

WRITER = Compared("writer", [50.0, 60.0, 55.0], [100.0, 100.0, 100.0])


def test_the_ratio_is_that_of_the_best_rounds_whatever_slowed_the_others() -> None:
    busy = Compared("writer", [50.0, 10.0, 60.0], [100.0, 20.0, 90.0])

    assert busy.ratio == 0.6


@pytest.mark.parametrize(("before", "falls"), [(0.6, False), (0.74, False), (0.76, True)])
def test_a_figure_fell_if_its_ratio_is_more_than_a_fifth_below(before: float, falls: bool) -> None:
    assert bool(report([WRITER], {"writer": before}).faults) is falls


def test_a_figure_that_rose_is_no_fault() -> None:
    assert not report([WRITER], {"writer": 0.1}).faults


def test_a_figure_that_was_never_kept_is_shown_and_passes() -> None:
    shown = report([WRITER], {})

    assert not shown.faults
    assert shown.lines[-1] == "| writer | 60 | 100 | 0.6 |  |"


@pytest.mark.parametrize(("megabytes", "exceeds"), [(90.0, False), (91.0, True)])
def test_memory_has_a_bound_of_its_own(megabytes: float, exceeds: bool) -> None:
    assert bool(report([Memory("probe", megabytes, 90.0)], {}).faults) is exceeds


def test_only_ratios_are_kept() -> None:
    assert kept([WRITER, Memory("probe", 80.0, 90.0)]) == {"writer": 0.6}


def test_the_kept_ratios_are_positive_and_of_different_figures() -> None:
    ratios = json.loads((Path(__file__).parent / "bench" / "guard.json").read_text())

    assert len(ratios) == 8
    assert all(ratio > 0 for ratio in ratios.values())


def test_a_run_is_recorded_as_a_row_at_the_end_and_the_last_fifty_stay() -> None:
    document = "# Performance\n\nThe last results:\n"
    for run in range(60):
        document = recorded(document, [WRITER, Memory("probe", 80.0, 90.0)], f"run {run}")

    lines = document.splitlines()
    assert lines[:6] == [
        "# Performance",
        "",
        "The last results:",
        "",
        "| when | writer | probe |",
        "|---|---|---|",
    ]
    assert lines[6:] == [f"| run {run} | 0.6 | 80 MB |" for run in range(10, 60)]
