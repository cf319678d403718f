"""What is built from the repository is in the context of the image's build, and copied into it."""

import re
import tomllib

from tests.deploy.images import ROOT

SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
COPIES = re.findall(
    r"^COPY (?!--from)(.+) \S+$", (ROOT / "deploy" / "Containerfile").read_text(), re.MULTILINE
)


def test_every_package_of_the_wheel_is_copied_into_the_image() -> None:
    packages = {pattern.rstrip("*") for pattern in SETUPTOOLS["packages"]["find"]["include"]}

    assert packages - set(COPIES) == set()


def test_every_file_that_is_copied_is_there_and_let_in() -> None:
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    named = {name for line in COPIES for name in line.split()}

    assert {name for name in named if not (ROOT / name).exists()} == set()
    assert named - let_in == set()
