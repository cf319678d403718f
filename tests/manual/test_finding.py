"""The search of the manual: all words must be there, as beginnings; titles come first."""

import pytest

from collector.manual.core.search import SearchedSection, SearchIndex

INDEX = SearchIndex(
    [
        SearchedSection("/docs/a#a", "Operations", "Operations", "Take a backup of everything."),
        SearchedSection(
            "/docs/a#backups", "Operations", "Backups", "One file. " * 60 + "The end, e.g. of it."
        ),
        SearchedSection(
            "/docs/b#b", "Settings", "Settings", "`TOCSIN_HTTP_LISTEN` is the address of alert-channels"
        ),
    ]
)


@pytest.mark.parametrize(
    ("query", "addresses"),
    [
        ("backup", ["/docs/a#backups", "/docs/a#a"]),
        ("BACK everything", ["/docs/a#a"]),
        ("backup nothing", []),
        ("http_listen", ["/docs/b#b"]),
        ("http_listening", []),
        ("TOCSIN_HTTP", ["/docs/b#b"]),
        ("listen", ["/docs/b#b"]),
        ("alert-channels", ["/docs/b#b"]),
        ("channels", ["/docs/b#b"]),
        ("", []),
        ("   ", []),
        ("( * ? [", []),
        ("\x00", []),
    ],
)
def test_each_word_begins_a_word_of_the_section(query: str, addresses: list[str]) -> None:
    assert [hit.section.address for hit in INDEX.find(query)] == addresses


def test_an_excerpt_is_short_and_marks_the_words() -> None:
    [hit] = INDEX.find("end")

    shown = "".join(text for text, _ in hit.excerpt)
    assert [text for text, sought in hit.excerpt if sought] == ["end"]
    assert shown.startswith("… ")
    assert len(shown) < 240


def test_further_words_than_eight_change_nothing() -> None:
    assert INDEX.find("take a backup of everything take a backup zzz") == INDEX.find(
        "take a backup of everything"
    )
