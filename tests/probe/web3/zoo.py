"""A contract of many events on a chain, a monitor of the plain ones, and what a collector holds of it."""

from shared.kinds.web3.contract_event import ContractEvent
from tests.probe.web3.chain import Chain
from tests.probe.web3.ledger import Ledger
from tests.probe.web3.watch import Watch

PLAIN = "Plain(uint256,address)"


class Zoo:
    """The three of them."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.address = chain.deploy("Zoo")
        self.first = chain.head + 1
        self.ledger = Ledger()
        self.watch = Watch("web3_contract_event", self.kind())

    def kind(self, *urls: str, confirmations: int = 0, quorum: int = 1) -> ContractEvent:
        return ContractEvent(
            chain_id=self.chain.id,
            address=self.address,
            event_name=PLAIN,
            rpc_url=list(urls) or [self.chain.url],
            confirmations=confirmations,
            rpc_quorum=quorum,
        )

    def ring(self, *numbers: int) -> None:
        """An event in a block of its own, each."""
        for number in numbers:
            self.chain.call(self.address, "plain(uint256)", number)

    async def check(self) -> list[str]:
        """The numbers of the events that were news."""
        outcome = await self.watch.look()
        assert not outcome.error
        return [item["args"]["0"] for item in self.ledger.take(outcome.found)]

    def settled(self) -> None:
        """All that the chain holds is held, and no more."""
        self.ledger.agrees(self.chain, self.address, [], self.first, self.chain.head)
