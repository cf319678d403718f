"""What a collector holds after a probe's reports: each log once, and none that the chain dropped."""

from collections.abc import Sequence
from typing import Any

import orjson

from shared.findings import Finding, Findings
from tests.probe.web3.chain import Chain


class Ledger:
    """*held*: the hash of the block of each log; *news*: keys in the order in which they were new."""

    def __init__(self) -> None:
        self.held: dict[str, str] = {}
        self.blocks: dict[str, int] = {}
        self.news: list[str] = []
        self.gone: list[str] = []

    def take(self, findings: Sequence[Finding]) -> list[dict[str, Any]]:
        """What was new of it."""
        new = []
        for finding in findings:
            said = orjson.loads(finding.data)
            if finding.found is Findings.LOG:
                if finding.key not in self.held:
                    self.news.append(finding.key)
                    new.append(said)
                self.held[finding.key] = said["blockHash"]
                self.blocks[finding.key] = said["blockNumber"]
            elif finding.found is Findings.RETRACTED:
                self._retract(said)
        return new

    def _retract(self, answer: dict[str, Any]) -> None:
        for key, hash_ in list(self.held.items()):
            number = self.blocks[key]
            if answer["first"] <= number <= answer["last"] and answer["hashes"].get(str(number)) != hash_:
                del self.held[key]
                self.gone.append(key)

    def agrees(self, chain: Chain, address: str, topics: Sequence[Any], first: int, last: int) -> None:
        """It holds the logs of the chain from a first to a last block, and no other."""
        asked = {"address": address, "topics": topics, "fromBlock": hex(first), "toBlock": hex(last)}
        there = chain.rpc("eth_getLogs", asked)
        expected = {f"{log['transactionHash']}:{int(log['logIndex'], 16)}": log["blockHash"] for log in there}
        assert self.held == expected
