"""The words of public pages: every language has all of them, and a visitor gets the one that is wanted."""

import re
from dataclasses import fields
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.status_pages.core.status_page import STATUSES
from collector.status_pages.web.words import ENGLISH, LANGUAGES, negotiated
from collector.status_pages.web.words.words import LanguageTexts

PART = re.compile(r"\{\w*\}")
# Of these the parts are the language's own choice.
FORMS = {"moment_form", "date_form", "month_form", "percent"}
NAMES = [
    field.name for field in fields(LanguageTexts) if field.type in {str, "str"} and field.name not in FORMS
]
EARLIEST, LATEST = (datetime(year, 1, 1) for year in (2000, 2099))  # noqa: DTZ001 - the zone comes later
ALL = pytest.mark.parametrize("tag", LANGUAGES)


@ALL
def test_every_word_is_there_and_leaves_the_same_places_to_fill(tag: str) -> None:
    words = LANGUAGES[tag]
    assert words.tag == tag
    for name in NAMES:
        text = getattr(words, name)
        assert text.strip() or name == "comma"
        assert sorted(PART.findall(text)) == sorted(PART.findall(getattr(ENGLISH, name))), name


@ALL
def test_every_status_and_month_has_a_word_of_its_own(tag: str) -> None:
    words = LANGUAGES[tag]
    for said in (words.shown, words.overall, words.phases, words.planned_phases):
        assert len(set(said.values())) == len(said)
        assert set(said) == set(getattr(ENGLISH, _name(words, said)))
    assert set(words.shown) == set(words.overall) == {*STATUSES, "unknown"}
    assert len(set(words.months)) == len(set(words.short)) == 12


def test_only_scripts_from_right_to_left_are_shown_so() -> None:
    assert {tag for tag, words in LANGUAGES.items() if words.direction == "rtl"} == {"ar", "he"}


@ALL
def test_every_language_but_english_has_its_own_words(tag: str) -> None:
    own, english = LANGUAGES[tag], ENGLISH
    same = [
        name
        for name in NAMES
        if len(getattr(english, name)) > 16 and getattr(own, name) == getattr(english, name)
    ]
    assert tag == "en" or not same


def _name(words: LanguageTexts, said: object) -> str:
    return next(field.name for field in fields(words) if getattr(words, field.name) is said)


@ALL
@given(
    moments=st.lists(
        st.datetimes(
            min_value=EARLIEST,
            max_value=LATEST,
            timezones=st.just(timezone(timedelta(hours=5, minutes=45))),
        ),
        min_size=2,
        max_size=2,
    )
)
def test_moments_are_written_in_utc_and_no_two_alike(tag: str, moments: list[datetime]) -> None:
    words = LANGUAGES[tag]
    one, other = (moment.astimezone(UTC).replace(second=0, microsecond=0) for moment in moments)

    assert (words.moment(one) == words.moment(other)) == (one == other)
    assert (words.date(one) == words.date(other)) == (one.date() == other.date())
    assert (words.month(one) == words.month(other)) == ((one.year, one.month) == (other.year, other.month))
    assert words.moment(one).endswith("UTC")


@ALL
@given(share=st.floats(0, 100))
def test_less_than_all_is_never_said_to_be_all(tag: str, share: float) -> None:
    words = LANGUAGES[tag]

    assert (words.share(share) == words.share(100.0)) == (share >= 100)
    assert words.share(None) == words.available(None) == words.no_data


@pytest.mark.parametrize(
    ("accept", "tag"),
    [
        pytest.param("", "en", id="nothing is wanted"),
        pytest.param("de", "de", id="one language"),
        pytest.param("de-CH, de;q=0.9, en;q=0.8", "de", id="of a country"),
        pytest.param("PT-br", "pt", id="in any spelling"),
        pytest.param("zh-Hant-TW;q=0.4, ja;q=0.6", "ja", id="what is wanted more comes first"),
        pytest.param("tlh, fr;q=0.2", "fr", id="what there is, though wanted less"),
        pytest.param("de;q=0, fr;q=0.1", "fr", id="what is not wanted at all"),
        pytest.param("*", "en", id="anything"),
        pytest.param("xx, yy", "en", id="none that there is"),
        pytest.param("ar-EG, en;q=0.5", "ar", id="from right to left"),
        pytest.param("es ; q=0.3 , en ; q=0.2", "es", id="blanks"),
        pytest.param("fr;q=nan, de;q=x, es;q=9", "en", id="weights that are none"),
        pytest.param("de," * 200, "en", id="more than a person chooses"),
    ],
)
def test_a_visitor_gets_the_language_that_is_wanted_most(accept: str, tag: str) -> None:
    assert negotiated(accept).tag == tag


@given(st.text(max_size=300))
def test_any_header_is_answered_in_some_language(accept: str) -> None:
    assert negotiated(accept).tag in LANGUAGES
