"""``tocsin up``: three processes from one command, each started again when killed, all gone in the end."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.ports import free_port

pytestmark = [pytest.mark.races, pytest.mark.database, pytest.mark.slow]

PATIENCE_S = 40.0
NAMES = ("postgres", "collector", "probe")


@dataclass(slots=True)
class Running:
    """A `tocsin up` of a test's own."""

    directory: Path
    http: str
    grpc: str
    log: Path
    supervisor: subprocess.Popen[str] | None = field(default=None)

    def start(self, *flags: str, **variables: str) -> None:
        command = [sys.executable, "-P", "-m", "shared.command", "up", *flags]
        settings = {
            "TOCSIN_DATA_DIR": str(self.directory),
            "TOCSIN_HTTP_LISTEN": self.http,
            "TOCSIN_GRPC_LISTEN": self.grpc,
            "TOCSIN_LOG_FORMAT": "json",
        }
        with self.log.open("a") as log:
            self.supervisor = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={**_without_settings(), **settings, **variables},
                text=True,
            )

    @property
    def pid(self) -> int:
        assert self.supervisor is not None
        return self.supervisor.pid

    def started(self, name: str) -> list[int]:
        """The processes of that name, in the order in which they were started."""
        said = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line["pid"] for line in said if line["message"] == "started" and line.get("process") == name]

    def ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.http}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def wait_ready(self) -> None:
        until(self.ready, self.log)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.supervisor is not None
        self.supervisor.send_signal(number)
        return self.supervisor.wait(PATIENCE_S)


def until(seen: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not seen():
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.05)


def _without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("TOCSIN_")}


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Running]:
    running = Running(
        directory=tmp_path / "var",
        http=f"127.0.0.1:{free_port()}",
        grpc=f"127.0.0.1:{free_port()}",
        log=tmp_path / "log",
    )
    yield running
    if running.supervisor is not None and running.supervisor.poll() is None:
        running.supervisor.kill()
        running.supervisor.wait()


def test_it_starts_all_three_and_stops_them_within_ten_seconds(up: Running) -> None:
    up.start()
    up.wait_ready()
    pids = [up.started(name)[-1] for name in NAMES]

    began = time.monotonic()
    status = up.stop()

    assert status == 0
    assert time.monotonic() - began < 10
    assert not [pid for pid in pids if psutil.pid_exists(pid)]
    assert (up.directory / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", NAMES)
def test_what_is_killed_is_started_again(up: Running, name: str) -> None:
    up.start()
    up.wait_ready()

    os.kill(up.started(name)[0], signal.SIGKILL)
    until(lambda: len(up.started(name)) == 2, up.log)

    up.wait_ready()
    assert [len(up.started(other)) for other in NAMES if other != name] == [1, 1]
    assert up.stop(signal.SIGINT) == 0


def test_after_the_kill_of_all_together_it_starts_as_if_nothing_was(up: Running) -> None:
    up.start()
    up.wait_ready()
    for process in [up.pid, *(up.started(name)[0] for name in NAMES)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert up.supervisor is not None
    up.supervisor.wait()

    up.start()
    up.wait_ready()

    assert up.stop() == 0


def test_with_the_supervisor_killed_the_others_go_and_the_next_one_finds_the_ports_free(up: Running) -> None:
    up.start()
    up.wait_ready()
    pids = [up.started(name)[0] for name in NAMES]
    assert up.stop(signal.SIGKILL) == -signal.SIGKILL

    up.start()
    until(lambda: len(up.started("probe")) == 2, up.log)
    up.wait_ready()

    assert not [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]
    assert [len(up.started(name)) for name in NAMES] == [2, 2, 2]
    assert up.stop() == 0


def test_a_second_one_over_the_same_directory_is_refused_by_number(up: Running) -> None:
    up.start()
    up.wait_ready()

    second = subprocess.run(
        [sys.executable, "-P", "-m", "shared.command", "up", "--data-dir", str(up.directory)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=_without_settings(),
    )

    assert second.returncode == 2
    assert f"in use by another tocsin (process {up.pid})" in second.stderr
    assert "Traceback" not in second.stderr
    assert up.stop() == 0


def test_a_taken_port_is_told_and_ends_it(up: Running) -> None:
    up.start()
    up.wait_ready()
    other = Running(
        directory=up.directory.with_name("other"),
        http=up.http,
        grpc=up.grpc,
        log=up.log.with_name("other-log"),
    )

    other.start()
    assert other.supervisor is not None
    status = other.supervisor.wait(PATIENCE_S)

    text = other.log.read_text()
    assert status == 2, text
    assert up.http in text or up.grpc in text
    assert "Traceback" not in text
    assert up.stop() == 0


def test_another_database_takes_the_embedded_one_s_place(up: Running, empty_database_url: str) -> None:
    key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    up.start(TOCSIN_DATABASE_URL=empty_database_url, TOCSIN_SECRET_KEY=key)
    up.wait_ready()

    assert not up.started("postgres")
    assert up.stop() == 0


def test_no_secret_is_in_its_log_or_in_a_command_line(up: Running) -> None:
    up.start()
    up.wait_ready()
    secrets = [(up.directory / name).read_text().strip() for name in ("postgres-password", "secret-key")]
    lines = [" ".join(each.cmdline()) for each in psutil.Process(up.pid).children(recursive=True)]

    assert up.stop() == 0
    for secret in secrets:
        assert secret not in up.log.read_text()
        assert not [line for line in lines if secret in line]
