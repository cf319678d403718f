"""The two images, as `make image-check` built them: small, not root, on a root that nobody can write to."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.deploy.images import PLACE, run
from tests.ports import free_port

pytestmark = [
    pytest.mark.slow,
    pytest.mark.races,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not (PLACE / "store").is_dir() or shutil.which("podman") is None,
        reason="images of every role: `make image-check` builds them",
    ),
]

# Nothing of the root can be written, and the process has no capability.
HARDENED = ("--read-only", "--tmpfs", "/tmp", "--cap-drop", "all", "--security-opt", "no-new-privileges")


@pytest.mark.parametrize(("image", "most_mb"), [("tocsin", 250), ("probe", 120)])
def test_an_image_is_small_not_root_and_knows_its_health(image: str, most_mb: int) -> None:
    [about] = json.loads(run("podman", "image", "inspect", f"localhost/{image}:check").stdout)

    assert about["Size"] < most_mb * 1_000_000
    assert about["Config"]["User"] == "10001:10001"
    assert about["Config"]["Volumes"] == {"/data": {}}
    assert about["Healthcheck"]["Test"][0] == "CMD"


@pytest.mark.parametrize(
    ("image", "inside", "outside"), [("probe", "pycurl", "asyncpg"), ("tocsin", "asyncpg", "pip")]
)
def test_an_image_lists_what_it_is_made_of(image: str, inside: str, outside: str) -> None:
    text = run(
        "podman", "run", "--rm", "--entrypoint", "cat", f"localhost/{image}:check", "/opt/tocsin/sbom.json"
    ).stdout
    bill = json.loads(text)

    names = {component["name"] for component in bill["components"]}
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert {"tocsin", inside} <= names
    assert outside not in names


def test_a_probe_s_image_has_the_probe_s_commands_alone() -> None:
    assert run("podman", "run", "--rm", *HARDENED, "localhost/probe:check", "--version").stdout.startswith(
        "tocsin "
    )
    refused = run("podman", "run", "--rm", *HARDENED, "localhost/probe:check", "token", "create", check=False)
    assert refused.returncode == 2
    assert "no such command: token" in refused.stderr


@pytest.fixture
def name() -> Iterator[str]:
    """The container's, and its volume's; both are removed."""
    name = f"tocsin-check-{uuid4().hex[:8]}"
    yield name
    run("podman", "rm", "--force", "--volumes", name, check=False)
    run("podman", "volume", "rm", "--force", name, check=False)


def test_everything_runs_in_one_container_and_says_that_it_is_healthy(name: str, tmp_path: Path) -> None:
    ports = {each: f"127.0.0.1:{free_port()}" for each in ("HTTP_LISTEN", "GRPC_LISTEN", "OTLP_LISTEN")}
    ports["METRICS_LISTEN"] = f"127.0.0.1:{free_port()}"
    settings = [word for key, value in ports.items() for word in ("--env", f"TOCSIN_{key}={value}")]
    run(
        "podman",
        "run",
        "--detach",
        "--name",
        name,
        *HARDENED,
        "--volume",
        f"{name}:/data",
        *settings,
        "localhost/tocsin:check",
    )

    healthy(name)

    assert run("podman", "exec", name, "cat", "/data/admin-token").stdout.startswith("tocsin_")
    began = time.monotonic()
    run("podman", "stop", "--time", "20", name)
    assert time.monotonic() - began < 15
    assert run("podman", "inspect", "--format", "{{.State.ExitCode}}", name).stdout.strip() == "0"


def healthy(name: str) -> None:
    """Wait until the container's own health check succeeds."""
    deadline = time.monotonic() + 90
    while run("podman", "healthcheck", "run", name, check=False).returncode != 0:
        assert time.monotonic() < deadline, run("podman", "logs", name).stderr[-4000:]
        time.sleep(0.5)
