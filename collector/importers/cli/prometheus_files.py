"""Finds the files that belong to a Prometheus: rules, targets, blackbox.yml and alertmanager.yml."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from collector.importers.cli.sources import Unreadable, documents, text_of
from collector.importers.core import prometheus

_ENDINGS: Final = {".yml", ".yaml", ".json"}
_MOST_FILES: Final = 1_000


def prometheus_files(path: Path, blackbox: str | None, alertmanager: str | None) -> prometheus.Files:
    """Read *path*, prometheus.yml or its folder, and what belongs to it."""
    folder = path if path.is_dir() else path.parent
    beside = {file: _documents(file) for file in _beside(folder)} if path.is_dir() or not blackbox else {}
    main = _first(beside, prometheus.is_prometheus) if path.is_dir() else _one(path)
    if not prometheus.is_prometheus(main):
        raise Unreadable(f"{path}: is no configuration of Prometheus: it has no scrape_configs")
    files = prometheus.Files(
        main,
        _one(Path(blackbox)) if blackbox else _first(beside, _is_blackbox) or {},
        _one(Path(alertmanager)) if alertmanager else _first(beside, _is_alertmanager) or {},
    )
    for pattern in map(str, main.get("rule_files") or []):
        files.rules += [item for item in _contents(folder, pattern) if isinstance(item, dict)]
    for pattern in _target_files(main):
        found = [group for item in _contents(folder, pattern) if isinstance(item, list) for group in item]
        if found:
            files.targets[pattern] = found
    return files


def _target_files(main: Any) -> Iterator[str]:
    """Yield the patterns of files with targets."""
    for job in main.get("scrape_configs") or []:
        for listed in (job.get("file_sd_configs") or []) if isinstance(job, dict) else []:
            if isinstance(listed, dict):
                yield from map(str, listed.get("files") or [])


def _contents(folder: Path, pattern: str) -> list[Any]:
    """Return the documents of all files that a pattern names."""
    return [document for file in _named(folder, pattern) for document in _documents(file)]


def _beside(folder: Path) -> Iterator[Path]:
    found = sorted(file for file in folder.iterdir() if file.suffix in {".yml", ".yaml"} and file.is_file())
    if len(found) > _MOST_FILES:
        raise Unreadable(f"{folder}: holds more than {_MOST_FILES} YAML files")
    yield from found


def _named(folder: Path, pattern: str) -> list[Path]:
    """Return the files that a pattern names; by its last part if the path is one of another machine."""
    relative = pattern.lstrip("/")
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
        raise Unreadable(f"{file}: must be an object")
    return listed[0]


def _first(listed: dict[Path, list[Any]], is_it: Any) -> Any:
    return next(
        (document for documents_ in listed.values() for document in documents_ if is_it(document)), None
    )


def _is_blackbox(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("modules"), dict)


def _is_alertmanager(document: Any) -> bool:
    return isinstance(document, dict) and "route" in document and "receivers" in document
