"""Texts for subscribers by language: pages and mails."""

from typing import Final

from collector.status_pages.web.subscription_words import de, en, es, fr, ja, pt, zh
from collector.status_pages.web.subscription_words.words import SubscriptionWords

_LANGUAGES: Final[dict[str, SubscriptionWords]] = {
    "en": en.WORDS,
    "de": de.WORDS,
    "fr": fr.WORDS,
    "es": es.WORDS,
    "pt": pt.WORDS,
    "zh": zh.WORDS,
    "ja": ja.WORDS,
}


def words_of(language: str) -> SubscriptionWords:
    """The texts in *language*, or in English if there are none."""
    return _LANGUAGES.get(language, en.WORDS)
