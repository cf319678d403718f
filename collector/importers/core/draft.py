"""The file that an importer makes: monitors, channels, rules, maintenance windows, status pages."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from collector.importers.core.report import ImportReport, Origin
from collector.importers.core.values import text

Body: TypeAlias = dict[str, Any]

# Around the name of a variable, until `plain` writes it as ${NAME}: no text of a source can look like one.
_OPEN: Final = "\ue000"
_CLOSE: Final = "\ue001"
_MARKS: Final = str.maketrans("", "", _OPEN + _CLOSE)
_VARIABLE: Final = re.compile(f"{_OPEN}([A-Za-z_][A-Za-z0-9_]*){_CLOSE}")
_WORDS: Final = re.compile(r"[^A-Z0-9]+")
_MASKS: Final = re.compile(r"\*{3,}|<(?:secret|redacted|hidden)>|\[FILTERED\]|ENC\[.*\]", re.IGNORECASE)
_LONGEST_NAME: Final = 255
_LONGEST_KEY: Final = 200
_LONGEST_VARIABLE: Final = 100
# The sections of a file, in its order.
SECTIONS: Final = ("monitors", "channels", "rules", "maintenanceWindows", "statusPages")


class NotCarried(Exception):
    """An object of the source has no counterpart; the text says why."""


class WrongSource(Exception):
    """The source is something else than what was named; the text says why."""


@dataclass(slots=True)
class DraftItem:
    """An object of the file; *reasons*: how it differs from its origin."""

    origin: Origin
    body: Body
    reasons: list[str]


@dataclass(slots=True)
class Draft:
    """*sections*: items as files declare them, by section and key; *secrets*: values of variables.

    Texts may hold variables as `variable` makes them.
    """

    system: str
    sections: dict[str, dict[str, DraftItem]] = field(default_factory=lambda: {name: {} for name in SECTIONS})
    secrets: dict[str, str] = field(default_factory=dict)
    report: ImportReport = field(default_factory=ImportReport)
    _rules: dict[str, list[str]] = field(default_factory=dict)

    def add(self, section: str, origin: Origin, key: str, body: Body, reasons: Sequence[str] = ()) -> str:
        """Add an object and return its key, which is made unique."""
        items = self.sections[section]
        unique, number = key, 1
        while unique in items:
            number += 1
            unique = f"{key}-{number}"
        name = clean(str(body.get("name") or "")).strip()[:_LONGEST_NAME] or origin.name or unique
        body = {name: value for name, value in body.items() if value is not None}
        items[unique] = DraftItem(origin, {"key": unique, **body, "name": name}, list(reasons))
        return unique

    def notify(self, monitor: str, channels: Sequence[str], **settings: Any) -> None:
        """Notify *channels* about *monitor*; monitors with equal channels and settings share a rule.

        *settings*: further fields of the rule.
        """
        if not channels:
            return
        named = sorted(set(channels))
        same = repr((named, sorted(settings.items(), key=str)))
        if same not in self._rules:
            self._rules[same] = []
            called = [self.sections["channels"][key].body["name"] for key in named]
            body = {
                "name": f"Alerts to {', '.join(called)}",
                "channels": named,
                "monitors": self._rules[same],
            }
            short = [channel.removeprefix(f"{self.system}-") for channel in named]
            key = f"{self.system}-rule-{'-'.join(short)}"[:_LONGEST_KEY]
            self.add("rules", Origin("rule", key, self.system), key, {**body, **settings})
        self._rules[same].append(monitor)

    def sign_in(self, name: str, user: str, password: str) -> Body | None:
        """Return a monitor's `auth` of type basic, its password in a variable; None if there is no user."""
        if not user:
            return None
        return {"type": "basic", "username": user, "password": self.secret(password, name, "password")}

    def secret_headers(self, name: str, headers: Mapping[Any, Any]) -> dict[str, str]:
        """Return the headers of the monitor or channel *name*, each value in a variable."""
        return {field: self.secret(text(value), name, field) for field, value in headers.items()}

    def secret(self, value: str, *names: str) -> str:
        """Return a variable that stands for *value*, or *value* if it has variables of its own.

        An empty or masked value is not known.
        """
        if _VARIABLE.search(value):
            return value
        base = _WORDS.sub("_", "_".join((self.system, *names)).upper()).strip("_")[:_LONGEST_VARIABLE]
        known = "" if _MASKS.fullmatch(value.strip()) else value
        name, number = base, 1
        while name in self.secrets and (not known or self.secrets[name] != known):
            number += 1
            name = f"{base}_{number}"
        self.secrets[name] = known
        return variable(name)


def variable(name: str) -> str:
    """Return the text that stands for the variable *name*."""
    return f"{_OPEN}{name}{_CLOSE}"


def clean(text: str) -> str:
    """Return *text* without the signs that mark variables."""
    return text.translate(_MARKS)


def names(value: Any) -> list[str]:
    """Return the names of the variables in *value*, each once."""
    return list(dict.fromkeys(name for text in _texts(value) for name in _VARIABLE.findall(text)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    return [text for item in value for text in _texts(item)] if isinstance(value, list) else []


def plain(value: Any) -> Any:
    """Return *value* as files have it: variables as ``${NAME}``, a literal ``${`` as ``$${``."""
    return _replaced(value, lambda text: _VARIABLE.sub(r"${\1}", text.replace("${", "$${")))


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Return *value* with the values of its variables; those that are not known become their names."""
    return _replaced(value, lambda text: _VARIABLE.sub(lambda match: values.get(match[1]) or match[1], text))


def _replaced(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _replaced(item, change) for name, item in value.items()}
    return [_replaced(item, change) for item in value] if isinstance(value, list) else value
