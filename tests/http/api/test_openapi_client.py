"""A client that is generated from the OpenAPI document makes, reads, changes and deletes what there is."""

import importlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from collector.monitors.openapi_types import pascal
from collector.notifications.channels import CHANNELS
from collector.operation_names import operation_name
from shared.kinds import TYPES
from tests.http.client import Api
from tests.http.described import described
from tests.notifications.channels.every import config as channel_config

pytestmark = [pytest.mark.slow, pytest.mark.shares_setup]

BASE: Final = "http://127.0.0.1:9"
PACKAGE: Final = "generated_tocsin_client"
_ADDRESS: Final = "0xdac17f958d2ee523a2206206994597c13d831ec7"
_TOKEN: Final = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
_HOST: Final = {"host": "server.example.com"}
_ON_CHAIN: Final = {"chain": "ethereum", "rpcUrl": BASE}
_SIDE: Final = {**_ON_CHAIN, "contract": _ADDRESS, "token": _TOKEN}
CONFIGS: Final[dict[str, dict[str, Any]]] = {
    "bridge": {"source": _SIDE, "destination": {**_SIDE, "chain": "base"}},
    "defi_protocol": {**_ON_CHAIN, "contract": _ADDRESS, "token": _TOKEN, "minTvl": "1000"},
    "dns": {"host": "example.com", "recordType": "MX"},
    "gas_price": {**_ON_CHAIN, "thresholds": {"high": 50}},
    "grpc": {**_HOST, "port": 50051},
    "heartbeat": {"expectedInterval": 3600},
    "http": {
        "url": "https://shop.example.com/",
        "expectedStatus": [200, "300-308"],
        "auth": {"type": "bearer", "token": "s3cr3t"},
        "assertions": [{"source": "responseTime", "op": "lt", "value": 500}],
    },
    "icmp": _HOST,
    "imap": _HOST,
    "liquidation": {**_ON_CHAIN, "protocol": "aave_v3", "pool": _ADDRESS, "address": _TOKEN},
    "mysql": _HOST,
    "opentelemetry": {"otlpProtocol": "http/json"},
    "pop3": _HOST,
    "postgres": _HOST,
    "prometheus": {"labelFilters": {"job": "node"}, "conditions": [{"metric": "up", "op": "lt", "value": 1}]},
    "redis": _HOST,
    "smtp": _HOST,
    "subgraph": {"url": BASE, **_ON_CHAIN},
    "tcp": {**_HOST, "port": 5432},
    "tls": {"domain": "example.com"},
    "web3": {"subType": "gas_price", **_ON_CHAIN, "thresholds": {"high": 50}},
    "web3_contract_event": {
        "chainId": 1,
        "address": _ADDRESS,
        "eventName": "Transfer(address indexed from, address indexed to, uint256 value)",
        "rpcUrl": BASE,
    },
    "websocket": {"url": "wss://shop.example.com/live"},
    "whale_wallet": {**_ON_CHAIN, "address": _ADDRESS, "threshold": 100},
}


class Generated:
    """A generated client, as its user writes with it."""

    def __init__(self, client: Any) -> None:
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self._client = client

    async def call(self, tag: str, operation: str, *arguments: Any, **more: Any) -> Any:
        """What the answer was parsed into."""
        module = importlib.import_module(f"{PACKAGE}.api.{tag}.{operation}")
        return await module.asyncio(*arguments, client=self._client, **more)

    async def deleted(self, tag: str, operation: str, id_: str) -> int:
        """The status of a DELETE."""
        module = importlib.import_module(f"{PACKAGE}.api.{tag}.{operation}")
        answer = await module.asyncio_detailed(id_, client=self._client)
        return int(answer.status_code)

    def read(self, model: str, values: dict[str, Any]) -> Any:
        return getattr(self.models, model).from_dict(values)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The generated package; nothing of the document was left out of it."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_text(json.dumps(described()), encoding="utf-8")
    # What is no text is read as bytes.
    overrides = "content_type_overrides:\n  application/pdf: application/octet-stream\n"
    (folder / "config.yaml").write_text(f"post_hooks: []\n{overrides}", encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json"),
            *("--meta", "none", "--config", "config.yaml", "--output-path", PACKAGE, "--fail-on-warning"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE
    sys.path.remove(str(folder))


@pytest.fixture
async def generated(package: Path, team: Api) -> AsyncIterator[Generated]:
    assert package.is_dir()
    module = importlib.import_module(f"{PACKAGE}.client")
    async with module.AuthenticatedClient(base_url=team.url, token=team.token) as client:
        yield Generated(client)


def test_the_client_has_a_function_for_each_operation(package: Path) -> None:
    functions = {file.stem for file in package.glob("api/*/*.py")} - {"__init__"}
    wanted = {
        operation_name(method.upper(), path)
        for path, methods in described()["paths"].items()
        for method in methods
    }

    assert {name.replace("_", "") for name in functions} == {name.lower() for name in wanted}


@pytest.mark.parametrize("type_", TYPES)
async def test_a_monitor_of_each_type_is_read_as_its_type(generated: Generated, type_: str) -> None:
    name = pascal(type_)
    body = generated.read(
        f"{name}MonitorRequest", {"name": f"my {type_}", "type": type_, "config": CONFIGS[type_]}
    )

    made = await generated.call("monitors", "create_monitor", body=body)
    assert isinstance(made, generated.models.CreatedMonitor), made
    found = await generated.call("monitors", "get_monitor", made.id)
    assert isinstance(found, getattr(generated.models, f"{name}Monitor"))
    assert type(found.config).__name__.endswith("MonitorConfig")
    assert set(CONFIGS[type_]) <= set(found.config.to_dict())

    listed = await generated.call("monitors", "list_monitors", type_=generated.models.ListMonitorsType(type_))
    assert made.id in {item.id for item in listed.data}

    change = generated.models.UpdateMonitorRequest(interval=120)
    changed = await generated.call("monitors", "update_monitor", made.id, body=change)
    assert (changed.interval, changed.revision) == (120, 2)

    assert await generated.deleted("monitors", "delete_monitor", made.id) == 204
    gone = await generated.call("monitors", "get_monitor", made.id)
    assert isinstance(gone, generated.models.Error)
    assert gone.status == 404


@pytest.mark.parametrize("type_", CHANNELS)
async def test_an_alert_channel_of_each_type_is_read_as_its_type(generated: Generated, type_: str) -> None:
    name = CHANNELS[type_].__name__
    config = channel_config(type_, BASE)
    body = generated.read(f"{name}ChannelRequest", {"name": "ops", "type": type_, "config": config})

    made = await generated.call("alert_channels", "create_alert_channel", body=body)
    assert isinstance(made, generated.models.CreatedAlertChannel), made
    found = await generated.call("alert_channels", "get_alert_channel", made.id)
    assert isinstance(found, getattr(generated.models, f"{name}Channel"))
    assert isinstance(found.config, getattr(generated.models, f"{name}ChannelConfig"))
    assert set(config) <= set(found.config.to_dict())

    listed = await generated.call(
        "alert_channels", "list_alert_channels", type_=generated.models.ListAlertChannelsType(type_)
    )
    assert made.id in {item.id for item in listed.data}

    change = generated.models.UpdateAlertChannelRequest(enabled=False)
    changed = await generated.call("alert_channels", "update_alert_channel", made.id, body=change)
    assert changed.enabled is False

    assert await generated.deleted("alert_channels", "delete_alert_channel", made.id) == 204
    gone = await generated.call("alert_channels", "get_alert_channel", made.id)
    assert isinstance(gone, generated.models.Error)
