"""Builds the stubs of the wire format into the package; all else is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent))
from protos.build import build_stubs


class BuildWithStubs(build_py):
    """The usual build, after protoc."""

    def run(self) -> None:
        build_stubs()
        super().run()


setup(cmdclass={"build_py": BuildWithStubs})
