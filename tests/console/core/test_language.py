"""The console's texts are marked, and every catalog has each of them."""

import re
from collections import Counter
from typing import Final

import pytest

from collector.console import language, render
from collector.console.language import FOLDER, NAMES, TAGS, read
from collector.console.words import SCRIPT_TEXTS
from tests.console import texts

# What stands in templates as it is: names, keys of a keyboard, abbreviations of the field.
AS_IT_IS: Final = frozenset(
    {
        *("API", "CSV", "Ctrl", "Ctrl K", "DNS", "Enter", "Esc", "JSON", "MTBF", "MTTA", "MTTR", "PDF"),
        *("PostgreSQL", "Python", "Tocsin", "Tocsin · Tocsin", "UTC", "ms", "tag:value"),
    }
)
# A marked text, a comment, an expression, a statement.
_JINJA: Final = re.compile(r"(?s)\{%-? *trans\b.*?endtrans *%\}|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}")
CATALOGS = [tag for tag in TAGS if tag != "en"]


def test_templates_have_no_text_without_a_mark() -> None:
    bare = [
        f"{path.name}: {text}"
        for path in sorted(texts.TEMPLATES.glob("*.j2"))
        if path.name not in texts.ENGLISH_TEMPLATES
        for text in unmarked(path.read_text("utf-8"))
    ]
    assert not bare, "\n".join(bare)


def unmarked(template: str) -> list[str]:
    """The texts of a template, and of its attributes, that stand in no mark."""
    html = _JINJA.sub("", template)
    attributes = re.findall(r'\b(?:aria-label|placeholder|title|alt|data-label|data-confirm)="([^"]+)"', html)
    pieces = [*re.split(r"(?s)<[^>]*>|\n", html), *attributes]
    words = [re.sub(r"&\w+;", "", piece).strip(" \n·,.:;()–“”?") for piece in pieces]
    return [
        word
        for word in words
        if re.search("[A-Za-z]{2}", word) and word not in AS_IT_IS and not word.startswith(("/", "aria-"))
    ]


def test_an_unmarked_text_of_a_template_is_found() -> None:
    assert unmarked(
        '<p class="soft">Not marked yet.</p>{% if x > 1 %}nor that{% endif %}<a title="Neither is this">'
    ) == [
        "Not marked yet",
        "nor that",
        "Neither is this",
    ]


def test_every_catalog_that_is_offered_exists_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.po")) == sorted(CATALOGS)
    assert set(TAGS) <= NAMES.keys()


@pytest.mark.parametrize("tag", CATALOGS)
def test_a_catalog_has_each_text_once_and_no_other(tag: str) -> None:
    ids = [message.id for message in read((FOLDER / f"{tag}.po").read_text("utf-8")) if message.id]
    assert [id_ for id_, count in Counter(ids).items() if count > 1] == []
    assert set(ids) ^ {text.id for text in texts.every()} == set()


@pytest.mark.parametrize("tag", CATALOGS)
def test_a_translation_keeps_placeholders_tags_and_plural_forms(tag: str) -> None:
    wrong: list[str] = []
    forms = len({language.load(tag).form_of(count) for count in range(1_001)})
    plurals = {text.id: text.plural for text in texts.every()}
    for message in read((FOLDER / f"{tag}.po").read_text("utf-8")):
        if not message.id:
            continue
        plural = plurals[message.id]
        fits = message.plural == plural and len(message.texts) == (forms if plural else 1)
        same = all(_fits(message.id, text, counted=bool(plural)) for text in message.texts)
        wrong += [] if fits and same and all(message.texts) else [message.id]
    assert wrong == []


def _fits(english: str, translated: str, *, counted: bool) -> bool:
    """Whether the placeholders and tags are the same; a form of a plural may do without its number."""
    wanted, had = set(re.findall(r"%\(\w+\)s|%%", english)), set(re.findall(r"%\(\w+\)s|%%", translated))
    missing = wanted - had - ({"%(num)s"} if counted else set())
    tags = [sorted(re.findall(r"<[^>]+>", text)) for text in (english, translated)]
    return not missing and had <= wanted and tags[0] == tags[1]


def test_scripts_get_the_texts_that_they_show() -> None:
    shown = {text.id for text in texts.of_scripts()}
    assert shown <= set(SCRIPT_TEXTS)
    assert set(SCRIPT_TEXTS) - shown == {"low", "medium", "high", "critical"}


@pytest.mark.parametrize(
    ("accepted", "tag"),
    [
        ("", "en"),
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("tlh, de;q=0.5, en;q=0.4", "de"),
        ("en-GB, de;q=0.9", "en"),
        ("de;q=0", "en"),
        ("de;q=x, *", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_prefers(accepted: str, tag: str) -> None:
    assert language.preferred(accepted) == tag


def test_a_number_takes_its_form() -> None:
    language.use("de")
    assert render.plural(1, "monitor") == "1 Monitor"
    assert render.plural(2_000, "monitor") == "2,000 Monitore"
    language.use("en")
    assert render.plural(2_000, "entry", "entries") == "2,000 entries"


def test_a_text_of_a_page_escapes_what_it_shows() -> None:
    assert language.in_template("Delete “%(name)s”?", name="<b>") == "Delete “&lt;b&gt;”?"


def test_a_word_that_a_template_names_is_translated_for_each_reader() -> None:
    template = render._environment().from_string("{{ 'down'|word }}")
    shown = []
    for tag in ("en", "de"):
        language.use(tag)
        shown.append(template.render())
    language.use("en")
    assert shown == ["down", "ausgefallen"]
