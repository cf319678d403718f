"""The rules and dashboards: understood by Prometheus, and of metrics that are really served."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared import blackbox
from shared.blackbox import LastCheck
from shared.results import Phases
from tests.deploy.tools import DEPLOY
from tests.e2e.fleet import fleet
from tests.e2e.product import eventually
from tests.ports import free_port
from tests.receiver import answer, receiving

PROMETHEUS = DEPLOY / "prometheus"
DASHBOARDS = sorted((DEPLOY / "grafana").glob("*.json"))
NAME = re.compile(r"\b(?:tocsin|probe|process)_\w+(?![\w:])")
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)

pytestmark = pytest.mark.races
promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="needs promtool, of Debian's prometheus"
)
each_board = pytest.mark.parametrize("board", DASHBOARDS, ids=lambda path: path.stem)


def check(*arguments: str | Path) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=PROMETHEUS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def panels(board: Path) -> list[Any]:
    return [each for each in json.loads(board.read_text())["panels"] if each["type"] != "row"]


def expressions(board: Path) -> Iterator[str]:
    """Those of all panels, with values in place of Grafana's variables."""
    for panel in panels(board):
        for target in panel["targets"]:
            yield re.sub(r"\$(?!__)\w+", ".*", target["expr"].replace("$__rate_interval", "5m"))


@promtool
@pytest.mark.parametrize("file", ["tocsin.rules.yaml", "monitors.rules.yaml"])
def test_prometheus_takes_the_rules(file: str) -> None:
    check("check", "rules", "--lint-fatal", file)


@promtool
def test_prometheus_takes_the_configuration() -> None:
    check("check", "config", "--syntax-only", "prometheus.yaml")


@promtool
def test_each_alert_fires_when_it_should() -> None:
    check("test", "rules", "tests.yaml")


def test_each_alert_says_what_is_wrong_and_what_it_means() -> None:
    for file in ("tocsin.rules.yaml", "monitors.rules.yaml"):
        for group in yaml.safe_load((PROMETHEUS / file).read_text())["groups"]:
            for rule in group["rules"]:
                if "alert" in rule:
                    assert rule["labels"]["severity"] in {"warning", "critical"}
                    assert rule["annotations"].keys() == {"summary", "description"}, rule["alert"]


@promtool
@each_board
def test_prometheus_takes_each_expression_of_a_dashboard(board: Path, tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": expr} for number, expr in enumerate(expressions(board))]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "a", "rules": rules}]}))

    check("check", "rules", "--lint", "none", tmp_path / "rules.yaml")


@each_board
def test_a_dashboard_is_whole(board: Path) -> None:
    whole = json.loads(board.read_text())

    assert whole["uid"] == board.stem
    assert [each["name"] for each in whole["__inputs"]] == ["DS_PROMETHEUS"]
    numbers = [each["id"] for each in whole["panels"]]
    assert sorted(numbers) == sorted(set(numbers))
    variables = {each["name"] for each in whole["templating"]["list"]}
    taken = set[tuple[int, int]]()
    for panel in panels(board):
        assert panel["datasource"]["uid"] == "${DS_PROMETHEUS}"
        assert panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        for target in panel["targets"]:
            assert set(re.findall(r"\$(?!__)(\w+)", target["expr"])) <= variables
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


def families(text: str) -> set[str]:
    """The names of the samples that an exposition may have."""
    names = set[str]()
    for name, kind in TYPE.findall(text):
        names |= {f"{name}{end}" for end in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
    return names


def of_monitors() -> set[str]:
    """The metrics of every kind of monitor."""
    lasts = [
        LastCheck(
            "",
            type_,
            True,
            200,
            1,
            Phases(dns_us=1, connect_us=1, tls_us=1, first_byte_us=1, transfer_us=1),
            1.0,
        )
        for type_ in ("http", "icmp")
    ]
    return families("".join(blackbox.text(lasts)))


@pytest.mark.database
@pytest.mark.slow
async def test_every_metric_of_rules_and_dashboards_is_served(database_url: str, tmp_path: Path) -> None:
    metrics = f"127.0.0.1:{free_port()}"
    async with receiving(always=answer()) as target, fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        await made.probe("eu", collector, METRICS_LISTEN=metrics)
        await made.monitors(1, target.url("/"))
        await made.shared_by(1, 1)

        async def scraped(url: str) -> str:
            headers = {"Authorization": f"Bearer {made.token}"}
            async with made.session.get(url, headers=headers) as response:
                return await response.text()

        service = f"http://{collector.settings['HTTP_LISTEN']}"
        samples = await eventually(lambda: _with(scraped, f"{service}/v1/metrics", "probe_success{"))
        served = families(await scraped(f"{service}/metrics")) | families(
            await scraped(f"http://{metrics}/metrics")
        )

    assert f'instance="{target.url("/")}"' in samples, "existing dashboards find targets by this label"
    assert families(samples) <= of_monitors()
    texts = [(PROMETHEUS / f"{name}.rules.yaml").read_text() for name in ("tocsin", "monitors")]
    texts += [expr for board in DASHBOARDS for expr in expressions(board)]
    named = {name for text in texts for name in NAME.findall(text)} - {"probe_success_avg"}
    assert named - served - of_monitors() == set()


async def _with(scraped: Any, url: str, part: str) -> str:
    text: str = await scraped(url)
    return text if part in text else ""
