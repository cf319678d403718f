"""What the fields of Web3 monitors are called, and what is said beside them."""

from collections.abc import Mapping
from typing import Final

from collector.console.forms.value_texts import Said

_CHAIN: Final = Said(label="Chain", help="Its name, such as ethereum, polygon or base, or its id.")

WEB3_TEXTS: Final[Mapping[str, Said]] = {
    "chain": _CHAIN,
    "chainId": _CHAIN,
    "rpcUrl": Said(
        label="RPC URLs",
        help="Of nodes of that chain, one a line, asked in turn. Empty: those of this deployment.",
        control="lines",
    ),
    "maxBlockAgeSeconds": Said(
        label="Oldest newest block",
        unit="s",
        help="A node that is further behind fails the check. Empty: what is usual on the chain.",
    ),
    "rpcQuorum": Said(label="Nodes that must agree"),
    "confirmations": Said(
        label="Confirmations", help="Blocks after which it counts. Empty: what is usual on the chain."
    ),
    "GasPrice.thresholds": Said(
        label="Thresholds", help="Either is enough. 5 % back from one its alert is over."
    ),
    "Thresholds.high": Said(label="High", unit="gwei"),
    "Thresholds.low": Said(label="Low", unit="gwei"),
    "WhaleWallet.address": Said(label="Wallet", help="Its address."),
    "WhaleWallet.token": Said(
        label="Token", help="The address of an ERC-20 contract. Empty: the chain's own coin."
    ),
    "WhaleWallet.threshold": Said(
        label="Threshold",
        help="In whole units, such as ETH: a balance that changes, or a transfer, by so much or more.",
    ),
    "WhaleWallet.direction": Said(
        label="Direction", words={"in": "what comes in", "out": "what goes out", "both": "both"}
    ),
    "Liquidation.protocol": Said(
        label="Protocol", words={"aave_v3": "Aave v3", "compound_v3": "Compound v3"}
    ),
    "Liquidation.pool": Said(label="Pool", help="The address of Aave's Pool, or of Compound's Comet."),
    "Liquidation.address": Said(label="Position of", help="The address whose position it is."),
    "Liquidation.minHealthFactor": Said(
        label="Least health factor", help="Below it an alert is raised; at 1 the position is liquidated."
    ),
    "DefiProtocol.contract": Said(
        label="Contract", help="The address of a vault (ERC-4626), or of what holds the token."
    ),
    "DefiProtocol.token": Said(label="Token", help="The address of what is locked. Empty: the vault's own."),
    "DefiProtocol.minTvl": Said(
        label="Least value locked", help="In whole units of the token: below it an alert is raised."
    ),
    "DefiProtocol.tvlDropPercent": Said(
        label="Value locked drops by", unit="%", help="Within the time below: this many or more."
    ),
    "DefiProtocol.windowMinutes": Said(label="Within", unit="min"),
    "DefiProtocol.oracle": Said(label="Price feed", help="The address of a feed as Chainlink's."),
    "DefiProtocol.maxOracleAgeSeconds": Said(label="Oldest price", unit="s"),
    "DefiProtocol.maxPriceDeviationPercent": Said(
        label="Price deviates by",
        unit="%",
        help="From the expected price, or the reference; with neither from its own of the time above.",
    ),
    "DefiProtocol.reference": Said(label="Reference", help="The address of another price feed."),
    "DefiProtocol.expectedPrice": Said(label="Expected price"),
    "DefiProtocol.pausedCheck": Said(label="Tell when the contract is paused"),
    "Subgraph.url": Said(label="GraphQL URL"),
    "Subgraph.maxBlocksBehind": Said(
        label="Most blocks behind", help="Further behind the chain's head an alert is raised."
    ),
    "Bridge.source": Said(label="Source", help="Where tokens are locked."),
    "Bridge.destination": Said(label="Destination", help="Where they are minted."),
    "Bridge.maxImbalancePercent": Said(
        label="Imbalance", unit="%", help="Minted more than is locked, by more than this."
    ),
    "Bridge.maxDelaySeconds": Said(
        label="Longest delay", unit="s", help="From the sending of a message to its delivery."
    ),
    "Bridge.depositEvent": Said(
        label="Event of a deposit",
        help="At the source, in full: Deposited(bytes32 indexed id, uint256 amount)",
    ),
    "Bridge.deliveryEvent": Said(
        label="Event of a delivery", help="At the destination, in full; its first argument is the same."
    ),
    "Side.contract": Said(label="Contract", help="The bridge's address there."),
    "Side.token": Said(label="Token", help="Its address there."),
    "ContractEvent.address": Said(label="Contract", help="Its address."),
    "ContractEvent.abi": Said(
        label="ABI",
        help="As JSON: of the contract, or the event's entry. Empty where the event is written in full.",
        control="json",
    ),
    "ContractEvent.eventName": Said(
        label="Event", help="Its name, or in full: Transfer(address indexed from, address to, uint256 value)"
    ),
    "ContractEvent.filters": Said(
        label="Filters",
        help='As JSON, by the names of arguments: {"to": "0x..."}, or a list of what is welcome.',
        control="json",
    ),
}
