"""What status pages show, decided without a database: statuses, bars, colours, stylesheets, cookies."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.status_pages.core.bars import DAYS, WIDTH, bars, percent
from collector.status_pages.core.colour import brand
from collector.status_pages.core.gate import OPEN_FOR, admits, ticket
from collector.status_pages.core.status_page import (
    MAX_SLUG,
    Health,
    PagePart,
    Severity,
    Shown,
    Status,
    held_after,
    is_slug,
    of_page,
    overall,
    shown,
    slug_of,
)
from collector.status_pages.core.style import cleaned, is_stylesheet
from shared.ids import uuid7

NOW = datetime(2026, 11, 21, tzinfo=UTC)
WELL = Health(down=False, degraded=False, slow=False, maintained=False, paused=False, unmeasured_since=None)


@given(st.text())
def test_a_slug_of_any_name_is_one_or_nothing(name: str) -> None:
    slug = slug_of(name)

    assert slug == "" or is_slug(slug)


@pytest.mark.parametrize(
    "text", ["", "-a", "a-", "a--b", "A", "a b", "a.b", "é", "a" * (MAX_SLUG + 1), "a\n"]
)
def test_what_is_no_slug(text: str) -> None:
    assert not is_slug(text)


def test_maintenance_comes_before_what_it_causes() -> None:
    down = Health(True, True, True, True, False, None)

    assert shown(None, down, planned=False).status == "maintenance"
    assert shown("major_outage", down, planned=True) == Shown("major_outage", "maintenance")
    assert shown(None, WELL, planned=True).status == "maintenance"
    assert overall([]) == "operational"


OUT, WELL_PART = PagePart("major_outage"), PagePart("operational")


@pytest.mark.parametrize(
    ("parts", "severities", "status"),
    [
        pytest.param([], [], "operational", id="an empty page"),
        pytest.param([], ["critical"], "major_outage", id="an incident on an empty page"),
        pytest.param([OUT, WELL_PART], [], "partial_outage", id="one of two is out"),
        pytest.param([OUT, OUT], [], "major_outage", id="all are out"),
        pytest.param(
            [PagePart("major_outage", essential=True), WELL_PART], [], "major_outage", id="essential"
        ),
        pytest.param([OUT, PagePart("operational", essential=True)], [], "partial_outage", id="another is"),
        pytest.param([WELL_PART, WELL_PART], ["critical"], "partial_outage", id="critical for none of them"),
        pytest.param(
            [PagePart("operational", incident=True), OUT],
            ["critical"],
            "major_outage",
            id="critical, and out",
        ),
        pytest.param(
            [PagePart("degraded_performance"), WELL_PART], ["minor"], "degraded_performance", id="slow"
        ),
    ],
)
def test_a_page_is_in_a_major_outage_only_if_all_is_or_what_is_essential(
    parts: list[PagePart], severities: list[Severity], status: Status
) -> None:
    assert of_page(parts, severities) == status


@pytest.mark.parametrize(
    ("held", "now", "status", "mode", "after"),
    [
        (None, Shown("operational", "operational"), "operational", None, None),
        (None, Shown("operational", "operational"), "major_outage", "auto", "major_outage"),
        (None, Shown("operational", "operational"), None, "manual", "operational"),
        ("major_outage", Shown("major_outage", "operational"), "major_outage", "manual", "major_outage"),
        ("major_outage", Shown("major_outage", "operational"), "operational", None, None),
        ("major_outage", Shown("major_outage", "operational"), "partial_outage", "auto", None),
        ("major_outage", Shown("major_outage", "operational"), None, None, "major_outage"),
    ],
)
def test_what_holds_a_component_after_a_change(
    held: str | None, now: Shown, status: str | None, mode: str | None, after: str | None
) -> None:
    assert held_after(held, now, status, mode) == after  # type: ignore[arg-type]


@given(st.lists(st.none() | st.sampled_from([100.0, 99.5, 12.0]), min_size=1, max_size=DAYS))
def test_bars_cover_each_day_once(shares: list[float | None]) -> None:
    days = [(NOW + timedelta(days=at), share) for at, share in enumerate(shares)]

    drawn = bars(days)

    assert sum((bar.width + 1) // 4 for bar in drawn) == len(shares)
    assert drawn[-1].left + drawn[-1].width == WIDTH
    assert all(one.left + one.width + 1 == other.left for one, other in itertools.pairwise(drawn))


def test_less_than_all_is_never_said_to_be_all() -> None:
    assert [percent(share) for share in (None, 100.0, 99.9999, 0.0)] == [
        "unknown",
        "100 %",
        "99.99 %",
        "0.00 %",
    ]


@given(st.integers(0, 0xFFFFFF))
def test_writing_on_any_colour_can_be_read(number: int) -> None:
    colour, on = brand(f"#{number:06x}")

    def light(text: str) -> float:
        parts = [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True)) + 0.05

    low, high = sorted((light(colour), light(on)))
    assert high / low >= 4.5


@pytest.mark.parametrize(
    "text",
    [
        "@import 'x';",
        "@IMPORT url(x);",
        "@font-face{src:local(x)}",
        "a{background:url(//example.com/x)}",
        "a{background:URL('//example.com/x')}",
        "a{background:\\75rl(x)}",
        "a{background:u\\72l('x')}",
        "a{background:image-set('x' 1x)}",
        "a{width:expression(alert(1))}",
        "a{behavior:x}",
        "a{-moz-binding:x}",
        "@media print{@import 'x';}",
        "@media print{a{b:url(x)}}",
        "</style><script>alert(1)</script>",
        "nonsense",
        "a{b:" + "(" * 100_000,
        "a{b:" + "(')'" * 10_000,
        "a{}\0",
    ],
)
def test_a_stylesheet_that_loads_or_runs_is_refused(text: str) -> None:
    assert not is_stylesheet(text)


@pytest.mark.parametrize("text", ["", "a{color:red}", "@media (min-width:9px){a:hover::before{content:'x'}}"])
def test_plain_stylesheets_are_taken(text: str) -> None:
    assert is_stylesheet(text)
    assert cleaned(text) == text.replace("'", '"')


def test_no_stylesheet_ends_an_element() -> None:
    assert "<" not in cleaned("a::before{content:'</style><script>'}")


def test_a_ticket_is_of_its_page_its_password_and_its_time() -> None:
    page = uuid7()
    good = ticket(page, "kept", NOW)

    assert admits(good, page, "kept", NOW)
    assert not admits(good, uuid7(), "kept", NOW)
    assert not admits(good, page, "other", NOW)
    assert not admits(good, page, "kept", NOW + OPEN_FOR)
    until, _, signature = good.partition(".")
    assert not admits(f"{int(until) + 1}.{signature}", page, "kept", NOW)


@given(st.text())
def test_no_text_is_a_ticket_and_none_is_an_error(text: str) -> None:
    assert not admits(text, uuid7(), "kept", NOW)
