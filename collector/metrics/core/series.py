"""Series of metrics: which a monitor selects, and the state of each."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import orjson
import re2

from shared.kinds.prometheus import alternatives

NAME: Final = "__name__"
MAX_LABELS: Final = 100
MAX_LABEL_BYTES: Final = 8_192
# A series without samples for this long is deleted.
FORGOTTEN_S: Final = 3_600
TOO_MANY: Final = f"a series has more than {MAX_LABELS} labels"

Labels = Mapping[str, str]
Matches = Callable[[Labels], bool]


class BadSeries(ValueError):
    """The labels of a series are not acceptable; the text says why."""


class SeriesState:
    """The state of a series: its latest sample, at *at_ms* by the sender's clock.

    *value* is None for types without a single number. *seen_s*: Unix time of receipt by our clock.
    """

    __slots__ = ("at_ms", "dirty", "key", "labels", "seen_s", "stale", "value", "watched", "weight")

    def __init__(self, key: bytes, labels: Labels, weight: int, watched: tuple[int, ...]) -> None:
        self.key = key
        self.labels = labels
        self.weight = weight
        self.watched = watched
        self.at_ms = -1
        self.value: float | None = None
        self.stale = False
        self.seen_s = 0
        self.dirty = False


def check(labels: Labels, *, count: int) -> int:
    """The size of the labels in bytes. Raises BadSeries; *count*: labels sent, duplicates included."""
    if count > MAX_LABELS:
        raise BadSeries(TOO_MANY)
    if count != len(labels):
        raise BadSeries("a series has the same label twice")
    weight = sum(len(name) + len(value) for name, value in labels.items())
    if weight > MAX_LABEL_BYTES:
        raise BadSeries(f"the labels of a series have more than {MAX_LABEL_BYTES} characters")
    if not labels.get(NAME):
        raise BadSeries(f"a series has no {NAME}")
    if "" in labels:
        raise BadSeries("a label has no name")
    if any("\0" in name or "\0" in value for name, value in labels.items()):
        raise BadSeries("a label holds a NUL character")
    return weight


def key(labels: Labels) -> bytes:
    """A key that does not depend on the order of the labels."""
    return hashlib.blake2b(orjson.dumps(labels, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def matcher(filters: Mapping[str, str | Sequence[str]] | Sequence[str]) -> Matches:
    """A predicate for *filters*: all must match. A missing label is empty; patterns match whole values."""
    tests = [(name, _any_of([_test(text) for text in texts])) for name, texts in alternatives(filters)]

    def matches(labels: Labels) -> bool:
        return all(passes(labels.get(name, "")) for name, passes in tests)

    return matches


def _any_of(tests: Sequence[Callable[[str], bool]]) -> Callable[[str], bool]:
    if len(tests) == 1:
        return tests[0]
    return lambda value: any(passes(value) for passes in tests)


def _test(text: str) -> Callable[[str], bool]:
    operator, rest = text[:2], text[2:]
    if operator in {"=~", "!~"}:
        pattern = re2.compile(rest)
        wanted = operator == "=~"
        return lambda value: (pattern.fullmatch(value) is not None) is wanted
    if operator == "!=":
        return lambda value: value != rest
    return lambda value: value == text
