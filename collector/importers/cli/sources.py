"""Reads what an importer is given: files, folders and SQLite databases, bounded in size and depth.

Nothing of a source is executed, and a database is opened read-only.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from collector.declarative.cli.yaml import YamlNode, parse
from collector.importers.core import autokuma, gatus, uptime_kuma
from collector.importers.core.draft import WrongSource
from collector.importers.storage.kuma_database import read

_LARGEST: Final = 64 << 20
_MOST_FILES: Final = 1_000
_DEEPEST: Final = 64
_LONGEST_INTEGER: Final = 18
_YAML: Final = frozenset({".yaml", ".yml"})
_SQLITE: Final = b"SQLite format 3\x00"


class UnreadableSource(Exception):
    """The source cannot be read, or is something else; the text says which."""


def text_of(path: Path) -> str:
    """Return the text of a file."""
    try:
        with path.open("rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise UnreadableSource(f"{path}: cannot be read: {error.strerror or error}") from None
    if len(data) > _LARGEST:
        raise UnreadableSource(f"{path}: is larger than {_LARGEST >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableSource(f"{path}: is no text in UTF-8") from None


def json_of(path: Path) -> Any:
    """Return what a JSON file says."""
    try:
        document = json.loads(text_of(path), parse_int=_integer, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(f"{path}: is no JSON: {error}") from None
    if _is_deep(document, 0):
        raise UnreadableSource(f"{path}: is nested deeper than {_DEEPEST}")
    return document


def _integer(digits: str) -> int | str:
    """Return an integer of at most 64 bits; a longer one stays a text."""
    return int(digits) if len(digits) <= _LONGEST_INTEGER else digits


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _is_deep(value: Any, depth: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return depth > _DEEPEST or any(_is_deep(item, depth + 1) for item in inner)


def documents(path: Path, text: str) -> list[Any]:
    """Return the documents of a YAML text."""
    nodes, faults = parse(text)
    if faults:
        line, words = faults[0]
        raise UnreadableSource(f"{path}:{line}: {words}")
    if not nodes:
        raise UnreadableSource(f"{path}: is empty")
    return [_value(node) for node in nodes]


def yaml_files(path: Path) -> Iterator[Path]:
    """Yield *path*, or the YAML files below it, sorted."""
    yield from _files(path, _YAML, "YAML")


def _files(path: Path, endings: frozenset[str], noun: str) -> list[Path]:
    """Return *path*, or the files below it with one of these *endings*, sorted."""
    if not path.is_dir():
        return [path]
    found = sorted(item for item in path.rglob("*") if item.suffix in endings and item.is_file())
    if len(found) > _MOST_FILES:
        raise UnreadableSource(f"{path}: holds more than {_MOST_FILES} {noun} files")
    if not found:
        raise UnreadableSource(f"{path}: holds no {noun} file")
    return found


def autokuma_entities(path: Path) -> dict[str, Any]:
    """Return the entities of AutoKuma's files by their ids: of one file, or of those below a folder."""
    found: dict[str, Any] = {}
    for file in _files(path, _YAML | {".json", ".toml"}, "JSON, TOML or YAML"):
        inside = file.relative_to(path) if file != path else Path(file.name)
        if not any(part.startswith(".") for part in inside.parts):
            for document in _entity_documents(file):
                found |= autokuma.of_document(inside.with_suffix("").as_posix(), document)
    return found


def _entity_documents(file: Path) -> list[Any]:
    if file.suffix in _YAML:
        return documents(file, text_of(file))
    return [toml_of(file) if file.suffix == ".toml" else json_of(file)]


def openzeppelin_document(path: Path) -> Any:
    """Return the networks, monitors and triggers of OpenZeppelin Monitor's folder, or of one file."""
    if not path.is_dir():
        return json_of(path)
    found: dict[str, Any] = {"networks": [], "monitors": [], "triggers": {}}
    for file in _files(path, frozenset({".json"}), "JSON"):
        section, document = file.parent.name, json_of(file)
        if section == "triggers" and isinstance(document, dict):
            found[section] |= document
        elif section in {"networks", "monitors"}:
            found[section] += document if isinstance(document, list) else [document]
    if not found["monitors"]:
        raise UnreadableSource(f"{path}: holds no folder `monitors` with JSON files")
    return found


def toml_of(path: Path) -> Any:
    """Return what a TOML file says."""
    try:
        document = _short(tomllib.loads(text_of(path)))
    except (ValueError, RecursionError) as error:
        raise UnreadableSource(f"{path}: is no TOML: {error}") from None
    if _is_deep(document, 0):
        raise UnreadableSource(f"{path}: is nested deeper than {_DEEPEST}")
    return document


def _short(value: Any) -> Any:
    """Return *value* with dates, and integers of more than 64 bits, as texts."""
    if isinstance(value, dict):
        return {name: _short(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item) for item in value]
    is_plain = isinstance(value, str | bool | float) or (isinstance(value, int) and abs(value) < 1 << 63)
    return value if is_plain else str(value)


def gatus_document(path: Path, values: Mapping[str, str] | None) -> dict[str, Any]:
    """Return Gatus' files as one document; *values*: of variables, None leaves them as variables."""
    parts: list[Mapping[str, Any]] = []
    for file in yaml_files(path):
        for document in documents(file, gatus.with_variables(text_of(file), values)):
            if not isinstance(document, dict):
                raise UnreadableSource(f"{file}: must be an object")
            parts.append(document)
    try:
        return gatus.merged(parts)
    except WrongSource as error:
        raise UnreadableSource(f"{path}: {error}") from None


def kuma_source(path: Path) -> uptime_kuma.Source:
    """Return the rows of a Kuma database, or of a backup file."""
    try:
        with path.open("rb") as stream:
            is_database = stream.read(len(_SQLITE)) == _SQLITE
    except OSError as error:
        raise UnreadableSource(f"{path}: cannot be read: {error.strerror or error}") from None
    if is_database:
        return _kuma_database(path)
    try:
        return uptime_kuma.of_backup(json_of(path))
    except WrongSource as error:
        raise UnreadableSource(f"{path}: {error}") from None


def _kuma_database(path: Path) -> uptime_kuma.Source:
    try:
        return read(path)
    except WrongSource as error:
        raise UnreadableSource(f"{path}: {error}") from None


def _value(node: YamlNode) -> Any:
    if isinstance(node.value, dict):
        return {name: _value(inner) for name, inner in node.value.items()}
    if isinstance(node.value, list):
        return [_value(inner) for inner in node.value]
    return node.value
