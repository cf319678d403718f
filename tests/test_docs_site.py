"""What is built around the code is checked by what builds it: the site of docs/, and a release."""

import shutil
import subprocess
from pathlib import Path

import pytest

from collector.manual.library import manual
from tests import docs_site, release

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
GOOD = '<h1 id="top">A</h1><a href="../b/#there">b</a> <a href="#top">up</a> <script src="../x.js"></script>'


@pytest.mark.parametrize(
    ("page", "faults"),
    [
        (GOOD, []),
        ('<a href="../gone/">x</a>', ["a/index.html links to ../gone/"]),
        ('<a href="../b/#nowhere">x</a>', ["a/index.html links to ../b/#nowhere"]),
        ('<a href="https://elsewhere.example.com/">x</a>', []),
        ('<script src="https://elsewhere.example.com/x.js"></script>',
         ["a/index.html loads https://elsewhere.example.com/x.js"]),
        ('<link rel="stylesheet" href="//elsewhere.example.com/x.css">',
         ["a/index.html loads //elsewhere.example.com/x.css"]),
        ('<link rel="preconnect" href="https://elsewhere.example.com">',
         ["a/index.html loads https://elsewhere.example.com"]),
        ('<img src="gone.png">', ["a/index.html links to gone.png"]),
    ],
)  # fmt: skip
def test_a_site_with_a_dead_link_or_a_foreign_address_is_refused(
    tmp_path: Path, page: str, faults: list[str]
) -> None:
    for name, text in (("a/index.html", page), ("b/index.html", '<p id="there">'), ("x.js", "")):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    assert list(docs_site.faults(tmp_path)) == faults


def test_each_page_has_a_place_of_its_own_in_the_site() -> None:
    pages = manual().pages.values()
    assert len({docs_site.place(page) for page in pages}) == len(pages)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a release looks at first, committed."""
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\nNews.\n\n## 1.2.2\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "All"]):
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", *command],
            cwd=tmp_path, check=True, capture_output=True,
        )  # fmt: skip
    return tmp_path


@needs_git
@pytest.mark.races
def test_a_tree_whose_version_has_its_news_can_be_released(tree: Path) -> None:
    assert list(release.faults_of(tree)) == []


@needs_git
@pytest.mark.races
@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("CHANGELOG.md", "## Unreleased\n\n## 1.2.3\n", "the changelog begins with Unreleased"),
        ("shared/__init__.py", '__version__ = "1.3.0"\n', "and the version is 1.3.0"),
        ("more.py", "", "1 files are not committed, such as ?? more.py"),
    ],
)
def test_another_tree_cannot(tree: Path, file: str, text: str, fault: str) -> None:
    (tree / file).write_text(text)

    assert fault in "; ".join(release.faults_of(tree))
