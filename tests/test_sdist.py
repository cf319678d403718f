"""The source distribution builds by itself into the same wheel as the repository."""

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from collector.manual.library import BESIDE

ROOT = Path(__file__).parent.parent
BUILD = "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"

pytestmark = [pytest.mark.races, pytest.mark.slow]


def built(what: str, of: Path, into: Path) -> Path:
    subprocess.run(
        [sys.executable, "-c", BUILD, what, str(into)], cwd=of, check=True, capture_output=True, timeout=110
    )
    (file,) = into.iterdir()
    return file


def test_the_source_distribution_builds_a_whole_wheel(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(
        ROOT,
        clone,
        ignore=shutil.ignore_patterns(".*", "var", "build", "*.egg-info", "*_pb2*", "__pycache__"),
    )
    for name in ("source", "wheel"):
        (tmp_path / name).mkdir()

    with tarfile.open(built("build_sdist", clone, tmp_path / "source")) as archive:
        archive.extractall(tmp_path, filter="data")
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "protos/build.py",
        "locks/run.txt",
        "deploy/Containerfile",
        "README.md",
        "docs/operations.md",
    } <= names
    assert not [name for name in names if name.startswith("tests")]

    (source,) = tmp_path.glob("tocsin-*")
    with zipfile.ZipFile(built("build_wheel", source, tmp_path / "wheel")) as wheel:
        inside = set(wheel.namelist())
    assert {
        "shared/wire/v1/probe_pb2.py",
        "collector/migrations/0001_first_light.sql",
        "collector/status_pages/web/templates/base.html.j2",
        "collector/console/static/console.js",
    } <= inside
    pages = {str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")}
    assert {f"collector/manual/pages/{page}" for page in {*pages, *BESIDE}} <= inside
    packaged = {
        str(path.relative_to(ROOT))
        for folder in ("collector", "probe", "shared")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".sql", ".j2", ".css", ".js", ".mjs", ".go", ".html"}
    }
    assert packaged <= inside
