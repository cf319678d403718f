"""A forked process of the product is as one that is executed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.forked import Loaded, Order

pytestmark = pytest.mark.races

ROOT = Path(__file__).parents[1]
FORKED = [sys.executable, "-m", "shared.command"]
EXECUTED = [sys.executable, "-P", "-m", "shared.command"]
NOWHERE = {
    "TOCSIN_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/nothing",
    "TOCSIN_SECRET_KEY": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--version"], id="that answers"),
        pytest.param(["nothing"], id="that does not exist"),
        pytest.param(["token", "create"], id="that lacks arguments"),
        pytest.param(["collector", "--help"], id="whose parser ends it"),
        pytest.param(["collector"], id="without its settings"),
    ],
)
def test_it_writes_and_ends_as_one_that_is_executed(words: list[str]) -> None:
    forked, executed = (
        subprocess.run([*way, *words], cwd=ROOT, env={}, capture_output=True, check=False, timeout=60)
        for way in (FORKED, EXECUTED)
    )

    assert (forked.stdout, forked.stderr, forked.returncode) == (
        executed.stdout,
        executed.stderr,
        executed.returncode,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_is_a_child_with_its_command_that_signals_end(number: signal.Signals) -> None:
    with subprocess.Popen([*FORKED, "collector"], cwd=ROOT, env=NOWHERE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert b"database unavailable" in process.stderr.readline()
        seen = psutil.Process(process.pid)
        shown = [word for word in seen.cmdline() if word]
        environment = (seen.ppid(), seen.cwd(), [file.path for file in seen.open_files()])
        process.send_signal(number)

        assert process.wait(timeout=20) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    assert shown == [*FORKED, "collector"]
    assert environment == (psutil.Process().pid, str(ROOT), [])


def test_it_is_forked_in_a_fraction_of_the_processor_s_time_that_an_execution_takes() -> None:
    spent = []
    for way in (FORKED, FORKED, EXECUTED):
        with subprocess.Popen([*way, "collector"], cwd=ROOT, env=NOWHERE, stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            process.stderr.readline()
            times = psutil.Process(process.pid).cpu_times()
            spent.append(times.user + times.system)
            process.kill()

    assert spent[1] < spent[2] / 4


def test_what_others_are_forked_from_waits_in_one_thread_and_ends_with_who_asked() -> None:
    loaded = Loaded()
    with Path("/dev/null").open("r+b") as nothing:
        streams = (nothing.fileno(), nothing.fileno(), nothing.fileno())
        number = loaded.start(Order("shared.command", ["--version"], {}, str(ROOT), session=False), streams)
    assert os.waitpid(number, 0) == (number, 0)
    its = max(
        (child for child in psutil.Process().children() if "tests.forked" in child.cmdline()),
        key=psutil.Process.create_time,
    )
    threads, files = its.num_threads(), its.num_fds()

    loaded.close()

    assert (threads, files) == (1, 4)
    assert not its.is_running()
