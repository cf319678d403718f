"""README, CHANGELOG, docs/ and the other pages name only what exists, and keep to their lengths."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

import collector.platform.metrics  # noqa: F401 - registers the collector's metrics
import shared
from shared.setting_table import TABLE
from shared.settings import UpSettings, load

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "collector").rglob("*.md")],
)
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()
FOLDERS = ("collector", "probe", "shared", "tests", "docs", "deploy", "protos", "locks", ".ci")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
PICTURE = re.compile(r"!\[[^\]]+\]\(([^)\s]+\.png)\)")
TOML = re.compile(r"^```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
YAML = re.compile(r"^```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NEW = re.compile(r"^New file `([^`\n]+)`", re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
PLACE = re.compile(
    rf"^(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./<>*-]*$|^[\w./<>*-]+/[\w.<>*-]+\.(?:py|sql|proto|j2)$"
)

name = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def places(text: str) -> Iterator[str]:
    """The repository's paths in *text*, in code spans and in blocks; ``<word>`` stands for any name."""
    words = [word for span in CODE.findall(FENCE.sub("", text)) for word in span.split()]
    words += [word.strip("`'\"(),;:") for block in FENCE.findall(text) for word in block.split()]
    return (word for word in words if PLACE.match(word))


def anchors(page: Path) -> set[str]:
    """The places in *page* that a link may name, as forges make them from headings."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@name
def test_every_path_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text()
    named = {re.sub(r"<[^>]*>", "*", place) for place in {*places(text)} - {*NEW.findall(text)}}
    assert [place for place in sorted(named) if not any(ROOT.glob(place.rstrip("/")))] == []


@name
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    lost = []
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        file, _, anchor = link.partition("#")
        to = (page.parent / file).resolve() if file else page
        if "://" in link or not to.exists() or (anchor and anchor not in anchors(to)):
            lost.append(link)
    assert lost == []


@name
def test_every_setting_and_command_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    verbs = set(project["entry-points"]["tocsin.verbs"])
    goals = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    words = FENCE.findall(text) + CODE.findall(FENCE.sub("", text))
    code = "\n".join(words)

    settings = {f"TOCSIN_{setting.upper()}" for setting in TABLE}
    assert set(re.findall(r"\bTOCSIN_[A-Z_]*[A-Z]\b", code)) - settings == set()
    assert set(re.findall(r"(?:^|\|\s*|;\s*)tocsin ([a-z-]+)", code, re.MULTILINE)) - verbs == set()
    assert {
        goal for line in re.findall(r"^make ([a-z -]+)", code, re.MULTILINE) for goal in line.split()
    } <= goals


@name
def test_every_metric_of_ours_that_a_page_names_exists(page: Path) -> None:
    kinds = {family.name: family.type for family in REGISTRY.collect()}
    known = {name + ("_total" if kind == "counter" else "") for name, kind in kinds.items()}
    text = page.read_text()
    named = re.findall(
        r"\btocsin_(?!probe_|client)[a-z_]*[a-z]\b", "\n".join(FENCE.findall(text) + CODE.findall(text))
    )
    assert {name for name in named if name not in known} == set()


def test_the_rules_for_prometheus_have_names_conditions_and_nothing_else() -> None:
    blocks = re.findall(
        r"^```yaml\n(groups:.*?|# tocsin-alerts.*?)^```", OPERATIONS, re.DOTALL | re.MULTILINE
    )
    [group] = yaml.safe_load(blocks[0])["groups"]
    assert len(group["rules"]) >= 5
    for rule in group["rules"]:
        assert {"alert", "expr"} <= rule.keys() <= {"alert", "expr", "for"}


def test_the_settings_file_that_is_shown_is_taken_as_it_stands(tmp_path: Path) -> None:
    [shown] = TOML.findall((ROOT / "docs/commands.md").read_text())
    file = tmp_path / "tocsin.toml"
    file.write_text(shown)

    settings, warnings = load(UpSettings, ["--config", str(file)], {})

    assert warnings == []
    assert (settings.http_listen, settings.retention_days) == ("0.0.0.0:8080", 90)


@name
def test_every_settings_file_that_a_page_shows_is_understood(page: Path, tmp_path: Path) -> None:
    file = tmp_path / "tocsin.toml"
    for shown in TOML.findall(page.read_text()):
        file.write_text(shown)
        assert load(UpSettings, ["--config", str(file)], {})[1] == []


@name
def test_every_yaml_that_a_page_shows_is_one_that_a_test_uses(page: Path) -> None:
    """Resources are applied by tests/test_reference.py, named files where a page is followed.

    What senders of metrics are told stands for what tests/senders tells real ones.
    """
    for shown in YAML.findall(page.read_text()):
        assert re.match(r"(?:monitors|channels|remote_write|exporters):|# [\w./-]+\.yaml\n", shown), shown
        assert yaml.safe_load(shown)


def test_every_page_of_the_docs_is_found_from_the_readme() -> None:
    paths, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in paths:
            paths.add(page)
            links = (link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text())))
            ahead += [(page.parent / link).resolve() for link in links if link.endswith(".md")]
    assert set(PAGES) - paths == set()


def test_the_readme_is_short_and_so_are_its_pictures() -> None:
    text = (ROOT / "README.md").read_text()
    pictures = [ROOT / picture for picture in PICTURE.findall(text)]
    assert len(text) <= 6000
    assert len(pictures) == 2
    assert sum(picture.stat().st_size for picture in pictures) <= 200_000


def test_every_figure_of_the_readme_is_measured() -> None:
    """Performance has each figure, and the command that it is measured by."""
    measured = (ROOT / "docs" / "performance.md").read_text()
    rows = re.findall(r"^\| \*\*.*\| (.+) \| (`.+`) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 5
    for figures, command in rows:
        assert command in measured
        for figure in re.findall(r"\d[\d,]*(?: MB)?", figures):
            assert re.search(rf"(?<![\d,]){figure}(?![\d,])", measured), figure


def test_the_changelog_begins_with_this_version_and_keeps_its_lines_short() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert titles[titles[0] == "Unreleased"] == shared.__version__
    assert [line for line in text.splitlines() if len(line) > 110] == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("see `shared/ids.py` and `make run`", ["shared/ids.py"]),
        ("`collector/<feature>/core/`", ["collector/<feature>/core/"]),
        ("```\nprobe/checks/  a file a kind\n```", ["probe/checks/"]),
        ("shared/ids.py in words, `/srv/status`, `.../feed.atom`", []),
    ],
)
def test_paths_are_found_in_code_alone(text: str, named: list[str]) -> None:
    assert list(places(text)) == named
