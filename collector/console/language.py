"""The language of a request in the console, and its texts."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from gettext import c2py
from pathlib import Path
from typing import Any, Final, Literal, get_args

from markupsafe import Markup

Tag = Literal["ar", "de", "en", "es", "fr", "he", "it", "ja", "ko", "nl", "pl", "pt", "sv", "tr", "uk", "zh"]
"""The languages that have every text."""
NAMES: Final[Mapping[str, str]] = {
    "ar": "العربية",
    "de": "Deutsch",
    "en": "English",
    "es": "Español",
    "fr": "Français",
    "he": "עברית",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "sv": "Svenska",
    "tr": "Türkçe",
    "uk": "Українська",
    "zh": "中文",
}
TAGS: Final[tuple[str, ...]] = get_args(Tag)
FOLDER: Final = Path(__file__).parent / "languages"
_RIGHT_TO_LEFT: Final = frozenset({"ar", "he"})
_TEXT: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED: Final = re.compile(r"\\(.)")
_FORMS: Final = re.compile(r"plural=([^;]+);")
_LONGEST_HEADER: Final = 400


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """An entry of a catalog; *plural* is empty where no number decides the form."""

    id: str
    plural: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """*tag*: as in HTML; *texts*: by the English text; *forms*: texts with a number, by the singular.

    *form_of*: the place of the form that a number takes.
    """

    tag: str
    texts: Mapping[str, str]
    forms: Mapping[str, tuple[str, ...]]
    form_of: Callable[[int], int]

    @property
    def right_to_left(self) -> bool:
        return self.tag in _RIGHT_TO_LEFT


ENGLISH: Final = Language("en", {}, {}, lambda count: int(count != 1))
_CURRENT: Final[ContextVar[Language]] = ContextVar("language", default=ENGLISH)


def use(tag: str) -> None:
    """Use the language *tag*, of `TAGS`, for the rest of this request."""
    _CURRENT.set(load(tag))


def current() -> Language:
    """Return the language of this request."""
    return _CURRENT.get()


def preferred(accepted: str) -> str:
    """Return the tag that a header Accept-Language prefers of `TAGS`; English if it names none."""
    best, weight = "en", 0.0
    for part in accepted[:_LONGEST_HEADER].split(","):
        name, _, quality = part.partition(";")
        tag = name.strip().partition("-")[0].lower()
        wanted = _quality(quality)
        if tag in TAGS and wanted > weight:
            best, weight = tag, wanted
    return best


def _quality(text: str) -> float:
    try:
        return float(text.strip().removeprefix("q=")) if text.strip() else 1.0
    except ValueError:
        return 0.0


def gettext(text: str, /, **values: Any) -> str:
    """Return a text in the language of this request; *values* fill its ``%(name)s``."""
    shown = _CURRENT.get().texts.get(text, text)
    return shown % values if "%" in text else shown


def ngettext(one: str, many: str, count: int, /, **values: Any) -> str:
    """Return the form for *count* of a text; ``%(num)s`` in it is the number with separators."""
    language = _CURRENT.get()
    forms = language.forms.get(one, (one, many))
    return forms[language.form_of(count)] % {"num": f"{count:,}", **values}


def translate(text: str) -> str:
    """Return a text of a table in the language of this request; a text without translation as it is."""
    return _CURRENT.get().texts.get(text, text)


def marked(text: str) -> str:
    """Mark a text of a table, which `translate` translates where it is shown."""
    return text


def in_template(text: str, /, **values: Any) -> Markup:
    """Do what `gettext` does, for HTML: *values* are escaped."""
    shown = Markup(_CURRENT.get().texts.get(text, text))  # noqa: S704 - catalogs are this package's own
    return shown % values if "%" in text else shown


def in_template_plural(one: str, many: str, count: int, /, **values: Any) -> Markup:
    """Do what `ngettext` does, for HTML: *values* are escaped."""
    language = _CURRENT.get()
    forms = language.forms.get(one, (one, many))
    shown = Markup(forms[language.form_of(count)])  # noqa: S704 - catalogs are this package's own
    return shown % {"num": f"{count:,}", **values}


@cache
def load(tag: str) -> Language:
    """Read the catalog of a language. Raises OSError if there is none."""
    if tag == ENGLISH.tag:
        return ENGLISH
    messages = list(read((FOLDER / f"{tag}.po").read_text("utf-8")))
    header = next((entry.texts[0] for entry in messages if not entry.id), "")
    rule = _FORMS.search(header)
    return Language(
        tag,
        {entry.id: entry.texts[0] for entry in messages if entry.id and not entry.plural},
        {entry.id: entry.texts for entry in messages if entry.plural},
        c2py(rule[1]) if rule else ENGLISH.form_of,
    )


def read(catalog: str) -> Iterator[CatalogEntry]:
    """Parse a catalog in the format PO."""
    for paragraph in catalog.split("\n\n"):
        fields: dict[str, str] = {}
        field = ""
        for line in paragraph.splitlines():
            if line.startswith("msg"):
                field = line.partition(" ")[0]
                fields[field] = ""
            if not line.startswith("#") and (text := _TEXT.search(line)):
                fields[field] += _ESCAPED.sub(lambda match: {"n": "\n"}.get(match[1], match[1]), text[1])
        if "msgid" in fields:
            texts = tuple(text for name, text in fields.items() if name.startswith("msgstr"))
            yield CatalogEntry(fields["msgid"], fields.get("msgid_plural", ""), texts)
