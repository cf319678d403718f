"""Renders the chart; ``python -m tests.deploy.charts`` writes the plain manifests again: `make manifests`."""

import json
import subprocess
from pathlib import Path
from typing import Any, Final

import yaml

from tests.deploy.tools import DEPLOY, PLACE

CHART: Final = DEPLOY / "helm" / "tocsin"
MANIFESTS: Final = DEPLOY / "kubernetes" / "tocsin.yaml"
_HEAD: Final = (
    "# deploy/helm/tocsin with values.yaml beside this: `make manifests`. Apply secret.yaml first.\n"
)


def rendered(values: dict[str, Any]) -> dict[str, Any]:
    """The lint's messages and errors, and the manifests by path. Raises CalledProcessError."""
    command: list[str | Path] = [
        PLACE / "python",
        Path(__file__).with_name("render.py"),
        CHART,
        json.dumps(values),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def plain() -> str:
    """All manifests but tests of the chart, with their namespace, as one file."""
    values = yaml.safe_load((DEPLOY / "kubernetes" / "values.yaml").read_text())
    manifests = rendered(values)["manifests"]
    objects = [
        each
        for path, text in sorted(manifests.items())
        if path.endswith(".yaml") and "/tests/" not in path
        for each in yaml.safe_load_all(text)
        if each is not None
    ]
    for each in objects:
        each["metadata"]["namespace"] = "tocsin"
        _as_manifest(each)
    return _HEAD + yaml.safe_dump_all(objects, sort_keys=False, width=110)


def _as_manifest(value: Any) -> None:
    """Leave out what only Helm reads."""
    if isinstance(value, dict):
        value.pop("helm.sh/chart", None)
        value.pop("app.kubernetes.io/managed-by", None)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _as_manifest(each)


if __name__ == "__main__":
    MANIFESTS.write_text(plain())
