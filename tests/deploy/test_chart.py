"""The chart: linted and rendered by Helm, its manifests valid for Kubernetes, its own test run for real."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import shared
from shared.settings import CollectorSettings, ProbeSettings, load
from tests.deploy.charts import CHART, MANIFESTS, plain, rendered
from tests.deploy.tools import DEPLOY, needed, run
from tests.e2e.fleet import fleet

pytestmark = pytest.mark.races

KUBERNETES = "1.31"
SECRET = {
    "databaseUrl": "postgresql://db/tocsin",
    "secretKey": "a2V5",
    "bootstrapToken": "token",
    "joinToken": "join",
}
EVERYTHING = {
    "secret": SECRET,
    "ingress": {"enabled": True, "className": "nginx"},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "networkPolicy": {"from": [{"namespaceSelector": {}}]},
    "settings": {"TOCSIN_MAIL_FROM": "tocsin@example.com"},
}
# Of operators, not of Kubernetes.
FOREIGN = {"ServiceMonitor"}


def objects(values: dict[str, Any]) -> list[Any]:
    manifests = rendered(values)["manifests"]
    texts = [text for path, text in manifests.items() if path.endswith(".yaml")]
    return [each for text in texts for each in yaml.safe_load_all(text) if each is not None]


def validate(folder: Path, each: Any) -> None:
    file = folder / f"{each['kind']}-{each['metadata']['name']}.yaml"
    file.write_text(yaml.safe_dump(each))
    run("kubernetes-validate", "--strict", "--kubernetes-version", KUBERNETES, file)


def pods(found: list[Any]) -> list[Any]:
    return [each["spec"]["template"]["spec"] for each in found if "template" in each.get("spec", {})]


def test_the_chart_has_the_version_of_what_it_installs() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert (about["version"], about["appVersion"]) == (shared.__version__, shared.__version__)


@needed
def test_helm_finds_nothing_to_say() -> None:
    result = rendered(EVERYTHING)

    assert result["errors"] == []
    assert [each for each in result["messages"] if each["error"] != "icon is recommended"] == []


@needed
@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet", "Deployment"])
def test_what_it_makes_is_valid_for_kubernetes(tmp_path: Path, kind: str) -> None:
    found = objects({**EVERYTHING, "probe": {"enabled": True, "kind": kind, "ping": True}})

    assert kind in {each["kind"] for each in found if each["metadata"]["name"] == "tocsin-probe"}
    for each in found:
        if each["kind"] not in FOREIGN:
            validate(tmp_path, each)
    [monitor] = [each for each in found if each["kind"] == "ServiceMonitor"]
    ports = {port["name"] for each in found if each["kind"] == "Service" for port in each["spec"]["ports"]}
    assert {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]} <= ports


@needed
def test_each_container_is_shut_in_and_takes_its_settings() -> None:
    for pod in pods(objects({**EVERYTHING, "probe": {"enabled": True}})):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        [container] = pod["containers"]
        context = container["securityContext"]
        assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
        assert context["capabilities"] == {"drop": ["ALL"]}
        given = {each["name"]: each["value"] for each in container["env"] if "value" in each}
        if container["name"] == "collector":
            assert load(CollectorSettings, [], given)[1] == []
        else:
            settings, warnings = load(ProbeSettings, [], given)
            assert (warnings, settings.collector) == ([], ("tocsin-grpc:7070",))


@needed
def test_a_node_that_is_drained_leaves_a_collector() -> None:
    found = objects({"secret": SECRET})
    [budget] = [each for each in found if each["kind"] == "PodDisruptionBudget"]
    [collector] = [each for each in found if each["kind"] == "Deployment"]

    assert collector["spec"]["replicas"] > budget["spec"]["minAvailable"] >= 1
    assert (
        budget["spec"]["selector"]["matchLabels"].items()
        <= collector["spec"]["template"]["metadata"]["labels"].items()
    )
    [rule] = collector["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert rule["topologyKey"] == "kubernetes.io/hostname"


@needed
def test_a_secret_that_is_missing_is_named() -> None:
    with pytest.raises(subprocess.CalledProcessError) as raised:
        rendered({"secret": {**SECRET, "secretKey": ""}})
    assert "secret.secretKey is required" in raised.value.stderr


@needed
def test_the_plain_manifests_are_the_chart_s(tmp_path: Path) -> None:
    assert MANIFESTS.read_text() == plain(), "`make manifests` writes them again"
    for file in (MANIFESTS, DEPLOY / "kubernetes" / "secret.yaml"):
        for each in yaml.safe_load_all(file.read_text()):
            validate(tmp_path, each)


@pytest.mark.database
@pytest.mark.slow
async def test_the_chart_s_own_test_sees_the_alert_of_a_target_that_goes_down(
    database_url: str, tmp_path: Path
) -> None:
    async with fleet(database_url, tmp_path) as made:
        collector = await made.collector()
        await made.probe("local", collector)
        settings = {
            "TOCSIN_URL": f"http://{collector.settings['HTTP_LISTEN']}",
            "TOCSIN_TOKEN": made.token,
            "LOCATION": "local",
            "ADDRESS": "127.0.0.1",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, CHART / "files" / "outage.py",
            env=os.environ | settings, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        output, _ = await process.communicate()

        assert process.returncode == 0, output.decode()
        assert output.decode().splitlines() == ["monitor.down: notified", "monitor.up: notified"]
        assert (await made.got("/v1/monitors"))["data"] == []
        assert (await made.got("/v1/alert-channels"))["data"] == []
