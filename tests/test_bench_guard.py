"""The arithmetic of `make bench-guard`: what it lets pass, and what it reports."""

import json
from pathlib import Path

import pytest

from tests.bench.ratios import Compared, Memory, kept, report

WRITER = Compared("writer", [50.0, 60.0, 55.0], [100.0, 100.0, 100.0])


def test_the_ratio_is_the_median_of_the_rounds_and_not_of_the_rates() -> None:
    busy = Compared("writer", [50.0, 10.0, 60.0], [100.0, 20.0, 100.0])

    assert busy.ratio == 0.5


@pytest.mark.parametrize(("before", "falls"), [(0.55, False), (0.74, False), (0.76, True)])
def test_a_figure_fell_if_its_best_round_is_more_than_a_fifth_below(before: float, falls: bool) -> None:
    assert bool(report([WRITER], {"writer": before}).faults) is falls


def test_a_figure_that_rose_is_no_fault() -> None:
    assert not report([WRITER], {"writer": 0.1}).faults


def test_a_figure_that_was_never_kept_is_shown_and_passes() -> None:
    shown = report([WRITER], {})

    assert not shown.faults
    assert shown.lines[-1] == "| writer | 55 | 100 | 0.55 |  |"


@pytest.mark.parametrize(("megabytes", "exceeds"), [(90.0, False), (91.0, True)])
def test_memory_has_a_bound_of_its_own(megabytes: float, exceeds: bool) -> None:
    assert bool(report([Memory("probe", megabytes, 90.0)], {}).faults) is exceeds


def test_only_ratios_are_kept() -> None:
    assert kept([WRITER, Memory("probe", 80.0, 90.0)]) == {"writer": 0.55}


def test_the_kept_ratios_are_positive_and_of_different_figures() -> None:
    ratios = json.loads((Path(__file__).parent / "bench" / "guard.json").read_text())

    assert len(ratios) == 8
    assert all(ratio > 0 for ratio in ratios.values())
