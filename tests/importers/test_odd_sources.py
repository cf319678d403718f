"""Whatever stands where a source has something else: an importer refuses it, names it or ignores it."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from collector.importers.cli import import_source
from collector.importers.cli.prometheus_files import prometheus_files
from collector.importers.cli.sources import UnreadableSource, json_of
from collector.importers.core import upptime, uptime_kuma
from collector.importers.core.draft import WrongSource, variable
from collector.importers.core.uptime_kuma import Options
from collector.importers.service.finish import finish
from tests.importers.sources import AUTOKUMA, SOURCES

ODD: Final[tuple[Any, ...]] = (None, True, 5, -1e308, "", "x", "9" * 400, [], [1], [None], [[]], {}, {"a": 1})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value below *value*."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in inner:
        yield (*path, step)
        yield from places(item, (*path, step))


def replaced(document: Any, path: tuple[Any, ...], odd: Any) -> Any:
    whole = copy.deepcopy(document)
    above = whole
    for step in path[:-1]:
        above = above[step]
    above[path[-1]] = odd
    return whole


@pytest.mark.parametrize("system", SOURCES)
def test_no_value_of_a_source_breaks_its_importer(system: str) -> None:
    document, draft = SOURCES[system]
    assert finish(draft(copy.deepcopy(document))), "the example itself is carried"
    # The files of Prometheus are objects by then: a folder with others is refused.
    least = 2 if system == "prometheus" else 1
    for path in places(document):
        for odd in ODD if len(path) >= least else ():
            made = replaced(document, path, odd)
            try:
                finish(draft(made))
            except WrongSource:
                pass
            except Exception as error:
                raise AssertionError(f"{'.'.join(map(str, path))} = {odd!r}") from error


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", ["rule_files", "scrape_configs"])
def test_odd_lists_of_files_are_no_files(tmp_path: Path, field: str, odd: Any) -> None:
    whole = {"scrape_configs": [], field: odd}
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(whole))
    assert prometheus_files(tmp_path / "prometheus.yml", None, None).rules == []


def test_what_lies_beside_or_above_is_no_concern_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    (folder / "prometheus.yml").write_text("scrape_configs: []\nrule_files: ['../*.yml', '/../../s*.yml']\n")
    (folder / "chart.yaml").write_text("{{ a template }\n")
    (tmp_path / "secret.yml").write_text("groups: []\n")
    assert all("groups" not in document for document in prometheus_files(folder, None, None).rules)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match=r"gone/prometheus.yml: cannot be read"):
        prometheus_files(tmp_path / "gone" / "prometheus.yml", None, None)


def test_a_source_that_is_nested_deeply_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 500 + "]" * 500)
    with pytest.raises(UnreadableSource, match="nested deeper than 64"):
        json_of(path)


def test_a_fault_beside_a_variable_is_found() -> None:
    """Only what a variable will hold is left to apply."""
    draft = upptime.draft(
        {
            "sites": [
                {"name": "Good", "url": f"https://example.com/{variable('A')}"},
                {"name": "Whole", "url": variable("B")},
                {"name": "Bad", "url": f"https://example.com/{variable('A')}", "headers": ["bad header: x"]},
            ]
        }
    )
    assert [monitor["name"] for monitor in finish(draft)["monitors"]] == ["Good", "Whole"]


def test_a_rule_that_apply_would_refuse_is_named() -> None:
    contacts = [{"id": str(n), "type": 2, "status": 2, "value": f"a{n}@example.com"} for n in range(101)]
    monitors = {
        "monitorList": [
            {
                "id": 1,
                "name": "Shop",
                "type": "ping",
                "hostname": "example.com",
                "notificationIDList": {item["id"]: True for item in contacts},
            }
        ],
        "notificationList": [
            {
                "id": item["id"],
                "name": item["id"],
                "active": True,
                "config": {"type": "smtp", "smtpTo": item["value"]},
            }
            for item in contacts
        ],
    }
    draft = uptime_kuma.draft(uptime_kuma.of_backup(json.loads(json.dumps(monitors))), Options())
    assert "rules" not in finish(draft)
    assert [line.origin.kind for line in draft.report.lines if line.outcome == "left out"] == ["rule"]


@pytest.mark.parametrize("system", ["cachet", "checkly", "openzeppelin"])
def test_the_command_reads_answers_and_writes_the_file(
    system: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "source.json"
    path.write_text(json.dumps(SOURCES[system][0]))
    assert import_source.main([system, str(path), "-o", str(tmp_path / "made.yaml")]) in {0, 3}
    assert yaml.safe_load((tmp_path / "made.yaml").read_text())
    assert "carried" in capsys.readouterr().err


def test_the_command_reads_a_folder_of_autokuma(tmp_path: Path) -> None:
    folder = tmp_path / "entities"
    for name, entity in AUTOKUMA.items():
        path = folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(entity))
    assert import_source.main(["autokuma", str(folder), "-o", str(tmp_path / "made.yaml")]) == 3
    made = yaml.safe_load((tmp_path / "made.yaml").read_text())
    assert [item["key"] for item in made["monitors"]] == ["kuma-web-shop"]
