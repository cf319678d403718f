"""The reference of docs/: tables equal to the code, and a page with an example for every type."""

import re
from pathlib import Path

import pytest

from collector.bootstrap import bootstrap
from collector.notifications.channels import CHANNELS
from collector.platform.storage.db import Db
from shared.clock import utc_now
from shared.kinds import KINDS
from tests.accounts.cli.test_access import tocsin
from tests.reference import DOCS, renewed

PAGES = sorted(DOCS.rglob("*.md"))
EXAMPLE = re.compile(r"^```yaml\n((?:monitors|channels):.*?)^```", re.DOTALL | re.MULTILINE)
VARIABLE = re.compile(r"\$\{(\w+)\}")
OF_TYPES = [page for page in PAGES if page.parent.name in {"monitors", "channels"}]
OTHERS = [DOCS / "who-is-notified.md", DOCS / "configuration-as-code.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_tables_of_a_page_are_those_of_the_code(page: Path) -> None:
    text = page.read_text()
    assert renewed(text) == text, "make reference writes them again"


@pytest.mark.parametrize(("folder", "types"), [("monitors", KINDS), ("channels", CHANNELS)])
def test_every_type_has_a_page_with_an_example_and_the_index_names_it(
    folder: str, types: dict[str, object]
) -> None:
    index = (DOCS / folder / "README.md").read_text()
    shown = {}
    for page in sorted((DOCS / folder).glob("*.md")):
        if page.name != "README.md":
            [example] = EXAMPLE.findall(page.read_text())
            for type_ in re.findall(r"^ +type: (\w+)$", example, re.MULTILINE):
                shown[type_] = page.name
            assert f"]({page.name})" in index
    assert shown.keys() == types.keys()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "pages", [OF_TYPES, *([page] for page in OTHERS)], ids=["types", *(page.stem for page in OTHERS)]
)
async def test_the_examples_are_applied_as_they_stand_and_a_second_time_change_nothing(
    pages: list[Path], db: Db, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bootstrap(db, plan="pro", admin_email="admin@example.com", token=None, now=utc_now())
    for page in pages:
        for example in EXAMPLE.findall(page.read_text()):
            (tmp_path / f"{page.parent.name}-{page.stem}.yaml").write_text(example)
            for name in VARIABLE.findall(example):
                monkeypatch.setenv(name, "https://hooks.example.com/" if name.endswith("_URL") else "a-key")

    done = await tocsin(database_url, "apply", "-f", str(tmp_path))
    planned = await tocsin(database_url, "apply", "-f", str(tmp_path), "--plan", "--exit-code")

    assert done[0] == 0, done
    assert (planned[0], planned[1].partition(",")[0]) == (0, "nothing to do"), planned
