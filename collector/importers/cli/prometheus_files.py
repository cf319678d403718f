"""Finds the files that belong to a Prometheus: rules, targets, blackbox.yml and alertmanager.yml."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from collector.importers.cli.sources import UnreadableSource, documents, text_of
from collector.importers.core import prometheus
from collector.importers.core.values import elements, objects

_ENDINGS: Final = {".yml", ".yaml", ".json"}
_MOST_FILES: Final = 1_000


def prometheus_files(path: Path, blackbox: str | None, alertmanager: str | None) -> prometheus.Files:
    """Read *path*, prometheus.yml or its folder, and what belongs to it."""
    folder = path if path.is_dir() else path.parent
    main = None if path.is_dir() else _one(path)
    beside = _beside(folder)
    main = main or _first(beside, prometheus.is_prometheus)
    if not prometheus.is_prometheus(main):
        raise UnreadableSource(f"{path}: is no configuration of Prometheus: it has no scrape_configs")
    files = prometheus.Files(
        main,
        _one(Path(blackbox)) if blackbox else _first(beside, _is_blackbox) or {},
        _one(Path(alertmanager)) if alertmanager else _first(beside, _is_alertmanager) or {},
    )
    for pattern in map(str, elements(main.get("rule_files"))):
        files.rules += [item for item in _contents(folder, pattern) if isinstance(item, dict)]
    for pattern in _target_files(main):
        found = [group for item in _contents(folder, pattern) if isinstance(item, list) for group in item]
        if found:
            files.targets[pattern] = found
    return files


def _target_files(main: Any) -> Iterator[str]:
    """Yield the patterns of files with targets."""
    for job in objects(main.get("scrape_configs")):
        for listed in objects(job.get("file_sd_configs")):
            yield from map(str, elements(listed.get("files")))


def _contents(folder: Path, pattern: str) -> list[Any]:
    """Return the documents of all files that a pattern names."""
    return [document for file in _named(folder, pattern) for document in _documents(file)]


def _beside(folder: Path) -> list[Any]:
    """Return the documents of all YAML files in the folder; what cannot be read is none of Prometheus."""
    files = sorted(file for file in folder.iterdir() if file.suffix in {".yml", ".yaml"} and file.is_file())
    found: list[Any] = []
    for file in files[:_MOST_FILES]:
        with suppress(UnreadableSource):
            found += _documents(file)
    return found


def _named(folder: Path, pattern: str) -> list[Path]:
    """Return the files in or below the folder that a pattern names, perhaps by its last parts alone.

    The paths may be those of another machine, and nothing above the folder is looked at.
    """
    relative = "/".join(part for part in pattern.split("/") if part not in {"", ".", ".."})
    for wanted in (relative, "/".join(relative.split("/")[-2:]), relative.rpartition("/")[2]):
        try:
            found = sorted(file for file in folder.glob(wanted) if file.suffix in _ENDINGS and file.is_file())
        except (ValueError, RuntimeError):  # a pattern that pathlib does not take
            return []
        if found:
            return found[:_MOST_FILES]
    return []


def _documents(file: Path) -> list[Any]:
    return documents(file, text_of(file))


def _one(file: Path) -> Any:
    listed = _documents(file)
    if not listed or not isinstance(listed[0], dict):
        raise UnreadableSource(f"{file}: must be an object")
    return listed[0]


def _first(listed: list[Any], is_it: Callable[[Any], bool]) -> Any:
    return next(filter(is_it, listed), None)


def _is_blackbox(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("modules"), dict)


def _is_alertmanager(document: Any) -> bool:
    return isinstance(document, dict) and "route" in document and "receivers" in document
