"""Texts of public pages by language, and the choice of a visitor's language."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from collector.status_pages.web.words import ar, de, en, es, fr, he, it, ja, ko, nl, pl, pt, sv, tr, uk, zh
from collector.status_pages.web.words.words import LanguageTexts

ENGLISH: Final = en.WORDS
LANGUAGES: Final[dict[str, LanguageTexts]] = {
    "en": en.WORDS,
    "de": de.WORDS,
    "fr": fr.WORDS,
    "es": es.WORDS,
    "pt": pt.WORDS,
    "it": it.WORDS,
    "nl": nl.WORDS,
    "sv": sv.WORDS,
    "pl": pl.WORDS,
    "uk": uk.WORDS,
    "tr": tr.WORDS,
    "he": he.WORDS,
    "ar": ar.WORDS,
    "zh": zh.WORDS,
    "ja": ja.WORDS,
    "ko": ko.WORDS,
}
# A longer header, or one with more parts, was not configured by a person.
_LONGEST: Final = 256
_MOST: Final = 16


@lru_cache(maxsize=1_024)
def negotiated(accept: str) -> LanguageTexts:
    """The best available language of an Accept-Language header; English if none matches."""
    if len(accept) > _LONGEST:
        return ENGLISH
    ranked = sorted(_ranges(accept), key=lambda each: -each[0])
    return next((LANGUAGES[name] for _, name in ranked if name in LANGUAGES), ENGLISH)


def _ranges(accept: str) -> Iterator[tuple[float, str]]:
    for part in accept.split(",")[:_MOST]:
        name, _, rest = part.partition(";")
        weight = _weight(rest.strip())
        if weight > 0:
            yield weight, name.strip().partition("-")[0].lower()


def _weight(text: str) -> float:
    """The weight in ``q=0.5``; zero if it is invalid."""
    if not text:
        return 1.0
    try:
        weight = float(text.removeprefix("q="))
    except ValueError:
        return 0.0
    return weight if 0 <= weight <= 1 else 0.0
