"""A real EVM node (anvil) of a test's own, and contracts of ours on it."""

import http.client
import json
import platform
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode

from probe.web3.events import keccak
from tests.ports import free_port

HERE = Path(__file__).parent
TOOLS = HERE.parents[2] / ".tools"
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_SYSTEM = f"{platform.system().lower()}-{_MACHINES.get(platform.machine(), platform.machine())}"
_PROGRAM = TOOLS / "node_modules" / "@foundry-rs" / f"anvil-{_SYSTEM}" / "bin" / "anvil"
GWEI = 10**9
ETHER = 10**18


class Chain:
    """Talks to one node; *accounts* are rich and need no key."""

    def __init__(self, port: int, id_: int) -> None:
        self.port = port
        self.id = id_
        self.url = f"http://127.0.0.1:{port}"
        self._number = 0
        self.accounts: list[str] = []

    def rpc(self, method: str, *params: Any) -> Any:
        """The result. Raises RuntimeError for the node's error."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": list(params)}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", "/", json.dumps(asked), {"Content-Type": "application/json"})
            said = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["result"]

    def deploy(self, name: str, types: Sequence[str] = (), values: Sequence[Any] = ()) -> str:
        """The new contract's address."""
        code = artefacts()[name]["bytecode"] + encode(types, values).hex()
        receipt = self.send({"data": code})
        address: str = receipt["contractAddress"]
        return address

    def call(self, to: str, signature: str, *values: Any, by: int = 0) -> Any:
        """The receipt of a transaction that calls *signature* with *values*."""
        return self.send({"to": to, "data": calldata(signature, values)}, by)

    def send(self, transaction: Mapping[str, Any], by: int = 0) -> Any:
        """Its receipt, once it is in a block."""
        hash_ = self.rpc("eth_sendTransaction", {"from": self.accounts[by], **transaction})
        for _ in range(500):
            receipt = self.rpc("eth_getTransactionReceipt", hash_)
            if receipt is not None:
                assert receipt["status"] == "0x1", receipt
                return receipt
            time.sleep(0.01)
        raise AssertionError("a transaction that no block takes in")

    def mine(self, blocks: int = 1) -> None:
        self.rpc("anvil_mine", hex(blocks))

    @property
    def head(self) -> int:
        return int(self.rpc("eth_blockNumber"), 16)


def calldata(signature: str, values: Sequence[Any]) -> str:
    inside = signature[signature.index("(") + 1 : -1]
    types = inside.split(",") if inside else []
    return "0x" + (keccak(signature.encode())[:4] + encode(types, values)).hex()


def demand() -> None:
    """Skip without the node and the compiler."""
    if not _PROGRAM.exists() or not shutil.which("node"):
        pytest.skip("a real EVM node: `make tools` fetches it")


@cache
def artefacts() -> dict[str, Any]:
    """ABI and code of each of our contracts."""
    sources = sorted(map(str, (HERE / "contracts").glob("*.sol")))
    made = subprocess.run(
        ["node", str(HERE / "compile.js"), str(TOOLS), *sources], check=True, capture_output=True, timeout=60
    )
    found: dict[str, Any] = json.loads(made.stdout)
    return found


@contextmanager
def running(id_: int = 31337, *flags: str) -> Iterator[Chain]:
    """A chain of its own, alone on a free port."""
    demand()
    port = free_port()
    command = [
        str(_PROGRAM),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--quiet",
        "--chain-id",
        str(id_),
        *flags,
    ]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        chain = Chain(port, id_)
        for _ in range(500):
            assert process.poll() is None
            try:
                chain.accounts = chain.rpc("eth_accounts")
                break
            except OSError:
                time.sleep(0.02)
        yield chain
    finally:
        process.kill()
        process.wait()
