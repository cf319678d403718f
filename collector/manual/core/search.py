"""Finds the sections of the manual that have all words of a search, the best first."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# Words of a search that are looked at; further ones change nothing.
_MOST_WORDS: Final = 8
_MOST_HITS: Final = 30
_EXCERPT: Final = 220
_WORD: Final = re.compile(r"\w+(?:[.-]+\w+)*")
_SEPARATOR: Final = re.compile(r"[._-]+")
_IN_TITLE, _IN_PAGE_TITLE, _IN_TEXT = 8, 1, 1


@dataclass(frozen=True, slots=True)
class SearchedSection:
    """A section as the search knows it; *page*: the title of its page, *text*: without markup."""

    address: str
    page: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SectionHit:
    """A section with all words; *excerpt*: pieces of its text, and whether each is a word of the search."""

    section: SearchedSection
    excerpt: Sequence[tuple[str, bool]]


class SearchIndex:
    """The words of *sections*; of sections that match equally well the earlier one comes first."""

    def __init__(self, sections: Sequence[SearchedSection]) -> None:
        self._sections = sections
        self._weights: dict[str, dict[int, int]] = {}
        for number, section in enumerate(sections):
            for word, weight in _weighed(section):
                places = self._weights.setdefault(word, {})
                places[number] = max(weight, places.get(number, 0))
        self._words = sorted(self._weights)

    def find(self, query: str) -> list[SectionHit]:
        """Return the sections in which each word of *query* begins a word, 30 at most."""
        wanted = [word.lower() for word in _WORD.findall(query)][:_MOST_WORDS]
        if not wanted:
            return []
        scores = [self._scores(word) for word in wanted]
        common = set(scores[0]).intersection(*scores[1:])
        best = sorted(common, key=lambda number: (-sum(score[number] for score in scores), number))
        sections = [self._sections[number] for number in best[:_MOST_HITS]]
        return [SectionHit(section, _excerpt(section.text, wanted)) for section in sections]

    def _scores(self, wanted: str) -> Mapping[int, int]:
        """Return the sections with a word that begins so; a whole word counts twice."""
        scores: dict[int, int] = {}
        for word in self._words[bisect_left(self._words, wanted) :]:
            if not word.startswith(wanted):
                break
            for number, weight in self._weights[word].items():
                scores[number] = max(scores.get(number, 0), weight * (1 + (word == wanted)))
        return scores


def _weighed(section: SearchedSection) -> Iterator[tuple[str, int]]:
    """Yield each word with its weight; of ``TOCSIN_HTTP_LISTEN`` also ``http_listen`` and ``listen``."""
    places = (section.title, _IN_TITLE), (section.page, _IN_PAGE_TITLE), (section.text, _IN_TEXT)
    for text, weight in places:
        for word in _WORD.findall(text.lower()):
            starts = (0, *(separator.end() for separator in _SEPARATOR.finditer(word)))
            yield from ((word[start:], weight) for start in starts if word[start:])


def _excerpt(text: str, wanted: Sequence[str]) -> list[tuple[str, bool]]:
    """Return about 220 characters around the first word, cut between words."""
    pattern = re.compile("|".join(rf"(?<![^\W_]){re.escape(word)}\w*" for word in wanted), re.IGNORECASE)
    first = pattern.search(text)
    start = text.rfind(" ", 0, max(0, first.start() - _EXCERPT // 3)) + 1 if first else 0
    end = len(text)
    if end > start + _EXCERPT:
        end = max(text.rfind(" ", start, start + _EXCERPT), start + _EXCERPT // 2)
    shown = f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
    pieces: list[tuple[str, bool]] = []
    after = 0
    for match in pattern.finditer(shown):
        pieces += [(shown[after : match.start()], False), (match[0], True)]
        after = match.end()
    return [piece for piece in (*pieces, (shown[after:], False)) if piece[0]]
