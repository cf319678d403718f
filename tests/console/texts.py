"""Finds every text of the console that is translated: run as a program, it writes catalogs.

``python -m tests.console.texts de fr`` adds what these catalogs lack, without a translation, and removes what
is not used. The marks are those of `docs/development.md`.
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from jinja2 import nodes

from collector.console import render
from collector.console.forms.texts import TEXTS, label
from collector.console.icons import ICONS
from collector.console.language import FOLDER, NAMES, CatalogEntry, read
from collector.notifications.channels import CHANNELS
from collector.platform.validation.model_fields import Member, members, shape
from shared.kinds import KINDS

ROOT: Final = Path(__file__).parents[2] / "collector"
TEMPLATES: Final = ROOT / "console" / "templates"
# The pages of the manual are in English, whoever reads them.
ENGLISH_TEMPLATES: Final = frozenset({"manual.html.j2"})
# Names are the same in every language.
_NAMES: Final = frozenset(
    {
        *("ABI", "API", "API URL", "Aave v3", "Apprise", "Compound v3", "DNS", "GraphQL URL", "IMAP"),
        *("OpenTelemetry", "POP3", "PostgreSQL", "Prometheus", "Redis", "SMTP", "TLS", "URL", "WebSocket"),
        *("Web3", "Webhook", "curl", "Problem with {component}"),
    }
)
# Tables whose texts are translated where they are shown: every text in them is one, but for these.
_TONES: Final = frozenset({"good", "warn", "bad", "off", "info"})
_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "accounts/console/account.py": ("_FIELDS",),
    "accounts/console/door.py": ("_WRONG", "_WRONG_CODE", "_NO_TOKEN"),
    "accounts/console/passkeys.py": ("_TOO_LATE", "_FAULTS"),
    "alerts/console/sections.py": ("_REASONS",),
    "console/edge.py": ("_TRICKED",),
    "console/words.py": ("WORDS",),
    "incidents/console/comparison.py": ("PHASES",),
    "incidents/console/incidents.py": ("_SNOOZES",),
    "monitors/console/checks.py": ("PHASES",),
    "monitors/console/forms.py": ("_FOLDED",),
    "monitors/console/kind_cards.py": ("_TEXTS", "_ICONS"),
    "monitors/console/monitors.py": ("_COLUMNS",),
    "monitors/console/response.py": ("_PERCENTILES", "LINES"),
    "monitors/console/schedules.py": ("_DAYS",),
    "monitors/console/timeline.py": ("_WORDS",),
    "notifications/console.py": ("TYPES",),
    "overview/console/overview.py": ("_WORDS", "_ENDED"),
    "overview/console/verdicts.py": ("_COUNTED",),
    "search/console.py": ("_NAMED",),
    "status_pages/console/components.py": ("_NONE", "_SAID"),
    "status_pages/console/incident_templates.py": ("_WORDED",),
    "status_pages/console/incidents.py": ("_MOMENT", "_WORDED"),
    "status_pages/core/incident_templates.py": ("VARIABLES",),
}
_TWO: Final = "nplurals=2; plural=(n != 1);"
_EAST: Final = "nplurals=1; plural=0;"
_SLAVIC: Final = (
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);"
)
_PLURALS: Final[Mapping[str, str]] = {
    "ar": "nplurals=6; "
    "plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5);",
    "fr": "nplurals=2; plural=(n > 1);",
    "he": "nplurals=3; plural=(n==1 ? 0 : n==2 ? 1 : 2);",
    "pl": "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);",
    "pt": "nplurals=2; plural=(n > 1);",
    "uk": _SLAVIC,
    **dict.fromkeys(("ja", "ko", "zh"), _EAST),
}
HEADERS: Final[Mapping[str, str]] = {
    tag: f"Language: {tag}\nContent-Type: text/plain; charset=UTF-8\n"
    f"Plural-Forms: {_PLURALS.get(tag, _TWO)}\n"
    for tag in NAMES
}
# The texts among the arguments of a call, by the name of what is called: places and keywords.
_CALLS: Final[Mapping[str, tuple[tuple[int, ...], tuple[str, ...]]]] = {
    "gettext": ((0,), ()),
    "marked": ((0,), ()),
    "back": ((2,), ()),
    "_gone": ((1,), ()),
    "_perform": ((2,), ()),
    "_to_sign_in": ((2,), ()),
    "_page_of": ((2, 3), ()),
    "_form": ((1,), ()),
    "_used": ((2,), ()),
    "_saved": ((2,), ()),
    "Forbidden": ((0,), ()),
    "SearchSection": ((0,), ()),
    "Snippet": ((0,), ()),
    "Copyable": ((0,), ()),
    "ReportCard": ((), ("title",)),
    "OverviewVerdict": ((1,), ()),
    "NavigationLink": ((), ("label",)),
    "FormField": ((), ("label", "help", "unit")),
    "ValueText": ((), ("label", "help", "none", "words")),
    "replace": ((), ("label", "help")),
}
_MODULES: Final = (
    *ROOT.glob("*/console/**/*.py"),
    *ROOT.glob("*/console.py"),
    *ROOT.glob("console/**/*.py"),
    ROOT / "overview/service/overview.py",
    ROOT / "status_pages/core/incident_templates.py",
    ROOT / "pages.py",
)
_SCRIPTED: Final = re.compile(r'\btranslate\(\s*"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Text:
    """A text to translate; *plural* is empty where no number decides its form."""

    id: str
    plural: str = ""


def every() -> list[Text]:
    """Return every text, in the order of the files that have it."""
    found = {
        text.id: text
        for text in (*of_templates(), *of_modules(), *of_models(), *of_scripts())
        if any(map(str.isalpha, text.id)) and text.id not in _NAMES
    }
    return list(found.values())


def of_templates() -> Iterator[Text]:
    environment = render._environment()
    for path in sorted(TEMPLATES.glob("*.j2")):
        if path.name not in ENGLISH_TEMPLATES:
            tree = environment.parse(path.read_text("utf-8"))
            yield from _of_tree(tree)


def _of_tree(tree: nodes.Template) -> Iterator[Text]:
    for call in tree.find_all(nodes.Call):
        if isinstance(call.node, nodes.Name) and call.node.name in ("_", "gettext", "ngettext"):
            ids = [arg.value for arg in call.args if isinstance(arg, nodes.Const)]
            yield Text(ids[0], ids[1] if call.node.name == "ngettext" else "")
    for filtered in tree.find_all(nodes.Filter):
        if filtered.name == "plural":
            ids = [arg.value for arg in filtered.args if isinstance(arg, nodes.Const)]
            yield counted(*ids)


def counted(one: str, many: str = "") -> Text:
    """Return the text of the filter `plural`."""
    return Text(f"%(num)s {one}", f"%(num)s {many or one + 's'}")


def of_modules() -> Iterator[Text]:
    for path in sorted(_MODULES):
        tree = ast.parse(path.read_text("utf-8"))
        tables = _TABLES.get(str(path.relative_to(ROOT)), ())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield from _of_call(node)
            if isinstance(node, ast.Assign | ast.AnnAssign):
                yield from _of_table(node, tables)


def _of_call(call: ast.Call) -> Iterator[Text]:
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name == "ngettext" and isinstance(call.args[0], ast.Constant):
        yield Text(*_strings(call.args[:2]))
    if name == "plural" and isinstance(call.args[1], ast.Constant):
        yield counted(*_strings(call.args[1:]))
    places, keywords = _CALLS.get(name, ((), ()))
    given = [call.args[place] for place in places if place < len(call.args)]
    given += [each.value for each in call.keywords if each.arg in keywords]
    yield from (Text(text) for each in given for text in _constants(each))


def _strings(parts: Iterable[ast.AST]) -> list[str]:
    return [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _constants(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*_constants(node.body), *_constants(node.orelse))
    elif isinstance(node, ast.Dict):
        yield from (text for each in node.values for text in _constants(each))


def _of_table(node: ast.Assign | ast.AnnAssign, tables: tuple[str, ...]) -> Iterator[Text]:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Name) or target.id not in tables or node.value is None:
        return
    texts = _strings(ast.walk(node.value))
    if target.id == "_COUNTED":
        sentences = [text for text in texts if " " in text]
        yield from (Text(*pair) for pair in zip(sentences[::2], sentences[1::2], strict=True))
        return
    for text in texts:
        if target.id == "WORDS" or _reads_as_text(text):
            yield Text(text)


def _reads_as_text(text: str) -> bool:
    """Whether a string of a table is a text, and no name of a field, an icon, a tone or a path."""
    return (
        text not in ICONS
        and text not in _TONES
        and not text.startswith("/")
        and (" " in text or text[:1].isupper())
    )


def of_models() -> Iterator[Text]:
    """The labels that fields have by their names, and those of the choices."""
    for model in _models():
        for member in members(model).values():
            yield from _of_member(model, member)


def _models() -> list[Any]:
    """Every model that a page makes a form of."""
    built = [*KINDS.values(), *CHANNELS.values()]
    for path in sorted(_MODULES):
        module = importlib.import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "forms.build":
                model = _named(module, ast.unparse(call.args[0]))
                built += [model] if model is not None else []
    return built


def _named(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def _of_member(model: Any, member: Member) -> Iterator[Text]:
    named = f"{model.__name__}.{member.alias}"
    if named not in TEXTS and member.alias not in TEXTS:
        yield Text(label(member.alias))
    form = shape(member.hint)
    items = form.items()
    for record in filter(None, (form.record(), shape(items).record() if items is not None else None)):
        for below in members(record).values():
            yield from _of_member(record, below)


def of_scripts() -> Iterator[Text]:
    for path in sorted((ROOT / "console" / "static").glob("*.js")):
        yield from (Text(text) for text in _SCRIPTED.findall(path.read_text("utf-8")))


def written(messages: Iterable[CatalogEntry], header: str) -> str:
    """Return a catalog in the format PO."""
    parts = [f'msgid ""\nmsgstr ""\n"{_escaped(header)}"']
    for message in messages:
        lines = [f'msgid "{_escaped(message.id)}"']
        if message.plural:
            lines.append(f'msgid_plural "{_escaped(message.plural)}"')
            lines += [f'msgstr[{at}] "{_escaped(text)}"' for at, text in enumerate(message.texts)]
        else:
            lines.append(f'msgstr "{_escaped(message.texts[0])}"')
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def main(tags: list[str]) -> None:
    """Bring the catalogs of *tags* to the texts that the console has now."""
    for tag in tags:
        path = FOLDER / f"{tag}.po"
        old = {message.id: message for message in read(path.read_text("utf-8"))} if path.exists() else {}
        header = old[""].texts[0] if "" in old else HEADERS[tag]
        forms = int(header.partition("nplurals=")[2][0])
        path.write_text(
            written(
                (
                    old.get(text.id)
                    or CatalogEntry(text.id, text.plural, ("",) * (forms if text.plural else 1))
                    for text in every()
                ),
                header,
            ),
            "utf-8",
        )


if __name__ == "__main__":
    main(sys.argv[1:])
