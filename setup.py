"""Builds stubs of the wire format and pages of the manual into the package; all else is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).parent))
from protos.build import ROOT, build_stubs

PAGES = "docs/**/*.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"


class BuildWithStubsAndPages(build_py):
    """The usual build, after protoc, with the pages that the product serves."""

    def run(self) -> None:
        build_stubs()
        super().run()
        # A clone serves the pages from where they are written.
        if not self.editable_mode:
            for page in (page for pattern in PAGES for page in ROOT.glob(pattern)):
                to = Path(self.build_lib) / "collector" / "manual" / "pages" / page.relative_to(ROOT)
                self.mkpath(str(to.parent))
                self.copy_file(str(page), str(to))


setup(cmdclass={"build_py": BuildWithStubsAndPages})
