"""The compose file, as Compose itself reads it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.platform.seal import Keyring
from shared.settings import CollectorSettings, ProbeSettings, load
from tests.deploy.tools import DEPLOY, needed, run

pytestmark = [pytest.mark.races, needed]

FILE = DEPLOY / "compose" / "compose.yaml"
FILLED = {
    "POSTGRES_PASSWORD": "secret",
    "TOCSIN_SECRET_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    "TOCSIN_BOOTSTRAP_TOKEN": "0123456789abcdef01234567",
}


@pytest.fixture
def composed(tmp_path: Path) -> Any:
    """What Compose makes of the file and the filled example of its settings."""
    lines = (DEPLOY / "compose" / "example.env").read_text().splitlines()
    for number, line in enumerate(lines):
        name = line.partition("=")[0]
        lines[number] = f"{name}={FILLED[name]}" if name in FILLED else line
    (tmp_path / "env").write_text("\n".join(lines))
    command: list[str | Path] = [
        "--env-file",
        tmp_path / "env",
        "--file",
        FILE,
        "--profile",
        "probes",
        "config",
    ]
    return yaml.safe_load(run("docker-compose", *command))


def test_the_file_keeps_to_the_specification() -> None:
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", FILE)


def test_two_collectors_and_two_probes_stand_behind_caddy(composed: Any) -> None:
    services = composed["services"]

    assert set(services) == {"postgres", "collector-1", "collector-2", "caddy", "probe-1", "probe-2"}
    assert services["caddy"]["depends_on"].keys() == {"collector-1", "collector-2"}
    published = {
        name: [port["published"] for port in each.get("ports", ())] for name, each in services.items()
    }
    assert published == {
        "postgres": [], "collector-1": ["7070"], "collector-2": ["7071"], "caddy": ["80", "443"],
        "probe-1": [], "probe-2": [],
    }  # fmt: skip
    assert composed["networks"]["back"]["internal"] is True
    for name in ("collector-1", "collector-2", "probe-1", "probe-2"):
        service = services[name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        [volume] = service["volumes"]
        assert (volume["source"], volume["target"]) == (name, "/data")


def test_each_program_takes_its_settings(composed: Any) -> None:
    services = composed["services"]
    for name in ("collector-1", "collector-2"):
        settings, warnings = load(CollectorSettings, [], services[name]["environment"])
        assert warnings == []
        assert settings.grpc_names == (name, "tocsin.example.com")
        assert settings.secret_key is not None
        assert Keyring.parse(settings.secret_key)
    for name in ("probe-1", "probe-2"):
        probe, warnings = load(ProbeSettings, [], services[name]["environment"])
        assert (warnings, probe.collector) == ([], ("collector-1:7070", "collector-2:7070"))


def test_a_setting_that_is_missing_is_named() -> None:
    output = run("docker-compose", "--file", FILE, "config", "--quiet", check=False)

    assert "required variable" in output
