"""The systemd units: each key is known, each service is shut in, and the install script works."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from shared.settings import CollectorSettings, ProbeSettings, load

SYSTEMD = Path(__file__).parents[2] / "deploy" / "systemd"
ROLES = ("collector", "probe")
# Tenths, of at most 100: below 20 systemd calls a service well shut in.
MOST_EXPOSED = 20

pytestmark = pytest.mark.races
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


@pytest.fixture(params=ROLES)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The unit, with a program that is there and settings that may be absent."""
    text = (SYSTEMD / f"tocsin-{request.param}.service").read_text()
    program = f"ExecStart=/opt/tocsin/{request.param}/bin/tocsin {request.param}\n"
    assert program in text
    file = tmp_path / f"tocsin-{request.param}.service"
    file.write_text(text.replace(program, "ExecStart=/bin/true\n"))
    return file


@analyze
def test_systemd_knows_every_key_and_value(unit: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )

    # It exits with 0 for keys that it does not know, and names them.
    assert [line for line in (done.stdout + done.stderr).splitlines() if unit.name in line] == []


@analyze
def test_a_service_is_shut_in(unit: Path) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout


def test_a_unit_starts_after_readiness_and_ends_what_no_longer_turns() -> None:
    for role in ROLES:
        text = (SYSTEMD / f"tocsin-{role}.service").read_text()
        assert {"Type=notify", "NotifyAccess=all", "WatchdogSec=30", "RestartPreventExitStatus=2"} <= set(
            text.split()
        )
        assert int(re.findall(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)[0]) > 10


def variables(role: str) -> dict[str, str]:
    lines = (SYSTEMD / f"{role}.env").read_text().splitlines()
    pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
    return {name: value for name, _, value in pairs}


def test_the_settings_that_are_installed_are_taken() -> None:
    filled = variables("collector") | {
        "TOCSIN_DATABASE_URL": "postgresql://tocsin:secret@db-1,db-2/tocsin",
        "TOCSIN_SECRET_KEY": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
    }

    assert load(CollectorSettings, [], filled)[1] == []
    assert load(ProbeSettings, [], variables("probe"))[1] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("role", ROLES)
def test_the_script_installs_a_service_and_keeps_its_settings(role: str, tmp_path: Path) -> None:
    """In a view of this machine's files of its own, where a stand-in takes the place of a package index."""
    stub = tmp_path / "deploy" / "environment.sh"
    shutil.copytree(SYSTEMD, tmp_path / "deploy" / "systemd")
    stub.write_text('#!/bin/sh\nmkdir -p "$3/bin"\necho "$1 $2 $4" >"$3/bin/tocsin"\n')
    stub.chmod(0o755)
    (tmp_path / "tocsin.whl").touch()
    script = f"""
        set -e
        for place in /opt /etc; do
            over={tmp_path}/over$place
            mkdir -p $over/up $over/work
            mount -t overlay overlay -o lowerdir=$place,upperdir=$over/up,workdir=$over/work $place
        done
        {tmp_path}/deploy/systemd/install.sh {role} {tmp_path}/tocsin.whl
        echo TOCSIN_LOG_LEVEL=debug >>/etc/tocsin/{role}.env
        {tmp_path}/deploy/systemd/install.sh {role} {tmp_path}/tocsin.whl
        stat -c '%U %G %a' /etc/tocsin/{role}.env
        tail -1 /etc/tocsin/{role}.env
        cat /opt/tocsin/{role}/bin/tocsin
        ls /etc/systemd/system | grep tocsin
        getent passwd tocsin | cut -d: -f7
    """
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("Fill in")]
    assert lines == [
        "root tocsin 640",
        "TOCSIN_LOG_LEVEL=debug",
        f"{role} {tmp_path}/tocsin.whl /opt/tocsin/{role}",
        f"tocsin-{role}.service",
        "/usr/sbin/nologin",
    ]
