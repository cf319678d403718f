"""Reads the files of ``tocsin apply``: fills in variables, reports each fault with file and line."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from collector.declarative.cli.yaml import YamlNode, parse
from collector.declarative.service.items import KEPT, SET, is_set_name
from collector.declarative.service.kinds import SECTIONS
from shared import arguments

_LARGEST: Final = 16 << 20
_ENDINGS: Final = {".yaml", ".yml", ".json"}
_FLAGS: Final = {"plan", "prune", "takeOver"}
_VARIABLE: Final = re.compile(
    r"\$\$\{|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<kept>\?)?\}|\$\{file:(?P<file>[^}]+)\}|\$\{"
)
_NOUNS: Final[Mapping[str, str]] = {name: section.noun for name, section in SECTIONS.items()}
_AT: Final = re.compile(r"(\w+)(?:\[(\d+)\])?(?:\.(.*))?")
_STEP: Final = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
# How the service begins the fault of a variable that is not set.
_UNSET: Final = "the variable ${"
_SWITCHES: Final = {"yes", "no", "on", "off"}


@dataclass(frozen=True, slots=True)
class ConfigurationFile:
    """*name*: as faults show it; *folder*: the base of relative paths in it."""

    name: str
    folder: Path
    content: bytes


@dataclass(slots=True)
class DeclaredFiles:
    """*sections*: for the service; *nodes*: where each entry is in the files; *faults*: as lines to print.

    *unset*: likewise, of unset variables, without which all else can be checked. *sets*: the names of sets in
    the files.
    """

    sections: dict[str, list[Any]] = field(default_factory=dict)
    nodes: dict[str, list[tuple[str, YamlNode]]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    unset: list[str] = field(default_factory=list)
    sets: set[str] = field(default_factory=set)


def sources(paths: Sequence[str], faults: list[str]) -> Iterator[ConfigurationFile]:
    """Yield the files, those of a folder sorted by name; ``-`` is stdin."""
    for path in paths:
        if path == "-":
            yield ConfigurationFile("stdin", Path(), sys.stdin.buffer.read(_LARGEST + 1))
        else:
            yield from filter(None, (_source(file, faults) for file in _files(Path(path), faults)))


def _source(file: Path, faults: list[str]) -> ConfigurationFile | None:
    try:
        with file.open("rb") as stream:
            return ConfigurationFile(str(file), file.parent, stream.read(_LARGEST + 1))
    except OSError as error:
        faults.append(f"{file}: cannot be read: {error.strerror or error}")
        return None


def read(files: Iterable[ConfigurationFile], variables: Mapping[str, str]) -> DeclaredFiles:
    """Read all sources into one."""
    declared = DeclaredFiles()
    for source in files:
        _add(declared, source, variables)
    return declared


def placed(declared: DeclaredFiles, details: Mapping[str, str]) -> list[str]:
    """Return the service's faults with file and line, without those of `unset`."""
    found = [_placed(declared, at, text) for at, text in details.items() if not text.startswith(_UNSET)]
    return [text for _, _, text in sorted(found)]


def _placed(declared: DeclaredFiles, at: str, text: str) -> tuple[str, int, str]:
    parts = _AT.fullmatch(at)
    listed = declared.nodes.get(parts[1], []) if parts else []
    if parts is None or not listed:
        return "", 0, f"{at}: {text}"
    if parts[2] is None or int(parts[2]) >= len(listed):
        name, node = listed[0]
        return name, node.line, f"{name}:{node.line}: {at}: {text}"
    name, item = listed[int(parts[2])]
    path = parts[3] or ""
    node = _deepest(item, [step or key for step, key in _STEP.findall(path)])
    noun, called = _NOUNS[parts[1]], _called(item)
    about = f"{noun} {called}: {path}" if called else f"{noun}: {path}"
    return name, node.line, f"{name}:{node.line}: {about.removesuffix(': ')}: {text}{_hint(node, text)}"


def _called(item: YamlNode) -> str:
    fields = item.value if isinstance(item.value, dict) else {}
    node = fields.get("key") or fields.get("name")
    return str(node.value) if node is not None and isinstance(node.value, str) else ""


def _deepest(node: YamlNode, steps: Sequence[str]) -> YamlNode:
    """Return the node to which *steps* lead, or the deepest before it; steps may leave out ``config``."""
    for at, step in enumerate(steps):
        below = _below(node, step) or (_below(_below(node, "config"), step) if at == 0 else None)
        if below is None:
            break
        node = below
    return node


def _below(node: YamlNode | None, step: str) -> YamlNode | None:
    value = node.value if node else None
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None


def _hint(node: YamlNode, text: str) -> str:
    """Explain how YAML reads the written value, where that may surprise."""
    if text.startswith("must be a string") and node.written and not isinstance(node.value, str):
        return f" ({node.written} is none in YAML: put it in quotes)"
    if text.startswith("must be true or false") and node.written.lower() in _SWITCHES:
        return f" ({node.written} is a text in YAML)"
    return ""


def _files(path: Path, faults: list[str]) -> list[Path]:
    if not path.is_dir():
        return [path]
    paths = sorted(file for file in path.iterdir() if file.suffix in _ENDINGS and file.is_file())
    if not paths:
        faults.append(f"{path}: has no file that ends in {', '.join(sorted(_ENDINGS))}")
    return paths


def _add(declared: DeclaredFiles, source: ConfigurationFile, variables: Mapping[str, str]) -> None:
    if len(source.content) > _LARGEST:
        declared.faults.append(f"{source.name}: must be {_LARGEST >> 20} MiB at most")
        return
    try:
        text = source.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        declared.faults.append(f"{source.name}: must be UTF-8")
        return
    documents, faults = parse(text)
    declared.faults += [f"{source.name}:{line}: {fault}" for line, fault in faults]
    filler = _Filler(source, variables, declared.unset)
    for root in documents:
        if isinstance(root.value, dict):
            _add_sections(declared, source, root.value, filler)
        else:
            declared.faults.append(f"{source.name}:{root.line}: must be an object of {', '.join(SECTIONS)}")


def _add_sections(
    declared: DeclaredFiles, source: ConfigurationFile, root: Mapping[str, YamlNode], filler: "_Filler"
) -> None:
    """Add the sections of a document; keys that begin with ``x-`` are for anchors."""
    for name, node in root.items():
        if name.startswith("x-"):
            continue
        at = f"{source.name}:{_named_at(source, name, node)}"
        if name in _FLAGS:
            flag = {"takeOver": "take-over"}.get(name, name)
            declared.faults.append(f"{at}: {name} is given on the command line: --{flag}")
        elif name == SET:
            _add_set(declared, at, node)
        elif name not in SECTIONS:
            perhaps = arguments.meant(name, SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            declared.faults.append(f"{at}: there is no section {name}{perhaps}")
        elif node.value is not None and not isinstance(node.value, list):
            declared.faults.append(f"{at}: {name} must be a list")
        else:
            entries = node.value or []
            declared.sections.setdefault(name, []).extend(filler.plain(yaml_node) for yaml_node in entries)
            declared.nodes.setdefault(name, []).extend((source.name, yaml_node) for yaml_node in entries)


def _add_set(declared: DeclaredFiles, at: str, node: YamlNode) -> None:
    if not is_set_name(node.value):
        declared.faults.append(f"{at}: set must be a name of letters, digits and . _ / -")
    else:
        declared.sets.add(str(node.value))


def _named_at(source: ConfigurationFile, name: str, node: YamlNode) -> int:
    """Return the line of a section's name; its content may begin below it."""
    lines = source.content.decode("utf-8-sig").splitlines()[: node.line]
    named = [at for at, line in enumerate(lines, 1) if line.lstrip("{ \"'").startswith(name)]
    return named[-1] if named else node.line


@dataclass(frozen=True, slots=True)
class _Filler:
    """Replaces variables by their values."""

    source: ConfigurationFile
    variables: Mapping[str, str]
    faults: list[str]

    def plain(self, node: YamlNode) -> Any:
        """Return the node as JSON."""
        if isinstance(node.value, dict):
            return {name: self.plain(yaml_node) for name, yaml_node in node.value.items()}
        if isinstance(node.value, list):
            return [self.plain(yaml_node) for yaml_node in node.value]
        return self._filled(node, node.value) if isinstance(node.value, str) else node.value

    def _filled(self, node: YamlNode, text: str) -> Any:
        if "${" not in text:
            return text
        whole, known = _VARIABLE.fullmatch(text), len(self.faults)
        if whole and whole["kept"] and whole["name"] not in self.variables:
            return {KEPT: whole["name"]}
        filled = _VARIABLE.sub(lambda match: self._value(node, match), text)
        return filled if len(self.faults) == known else {KEPT: text}

    def _value(self, node: YamlNode, match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        if match["file"]:
            return self._content(node, match["file"])
        name = match["name"]
        if name is None:
            self._fault(node, "${ begins the name of a variable; $${ is written for the signs themselves")
        elif name in self.variables:
            return self.variables[name]
        elif match["kept"]:
            self._fault(node, f"${{{name}?}} is kept as it is, and must be all of the text")
        else:
            self._fault(node, f"the variable {name} is not set")
        return ""

    def _content(self, node: YamlNode, path: str) -> str:
        try:
            return (self.source.folder / path).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            self._fault(node, f"the file {path} cannot be read: {reason}")
            return ""

    def _fault(self, node: YamlNode, text: str) -> None:
        self.faults.append(f"{self.source.name}:{node.line}: {text}")
