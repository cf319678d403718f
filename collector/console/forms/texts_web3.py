"""Labels and help of the form fields of Web3 monitors."""

from collections.abc import Mapping
from typing import Final

from collector.console.forms.value_texts import ValueText

_CHAIN: Final = ValueText(label="Chain", help="Its name, such as ethereum, polygon or base, or its id.")

WEB3_TEXTS: Final[Mapping[str, ValueText]] = {
    "chain": _CHAIN,
    "chainId": _CHAIN,
    "rpcUrl": ValueText(
        label="RPC URLs",
        help="Of nodes of that chain, one a line, asked in turn. Empty: those of this deployment.",
        control="lines",
    ),
    "maxBlockAgeSeconds": ValueText(
        label="Oldest newest block",
        unit="s",
        help="A node that is further behind fails the check. Empty: what is usual on the chain.",
    ),
    "rpcQuorum": ValueText(label="Nodes that must agree"),
    "confirmations": ValueText(
        label="Confirmations", help="Blocks after which it counts. Empty: what is usual on the chain."
    ),
    "GasPrice.thresholds": ValueText(
        label="Thresholds", help="Either is enough. 5 % back from one its alert is over."
    ),
    "Thresholds.high": ValueText(label="High", unit="gwei"),
    "Thresholds.low": ValueText(label="Low", unit="gwei"),
    "WhaleWallet.address": ValueText(label="Wallet", help="Its address."),
    "WhaleWallet.token": ValueText(
        label="Token", help="The address of an ERC-20 contract. Empty: the chain's own coin."
    ),
    "WhaleWallet.threshold": ValueText(
        label="Threshold",
        help="In whole units, such as ETH: a balance that changes, or a transfer, by so much or more.",
    ),
    "WhaleWallet.direction": ValueText(
        label="Direction", words={"in": "what comes in", "out": "what goes out", "both": "both"}
    ),
    "Liquidation.protocol": ValueText(
        label="Protocol", words={"aave_v3": "Aave v3", "compound_v3": "Compound v3"}
    ),
    "Liquidation.pool": ValueText(label="Pool", help="The address of Aave's Pool, or of Compound's Comet."),
    "Liquidation.address": ValueText(label="Position of", help="The address whose position it is."),
    "Liquidation.minHealthFactor": ValueText(
        label="Least health factor", help="Below it an alert is raised; at 1 the position is liquidated."
    ),
    "DefiProtocol.contract": ValueText(
        label="Contract", help="The address of a vault (ERC-4626), or of what holds the token."
    ),
    "DefiProtocol.token": ValueText(
        label="Token", help="The address of what is locked. Empty: the vault's own."
    ),
    "DefiProtocol.minTvl": ValueText(
        label="Least value locked", help="In whole units of the token: below it an alert is raised."
    ),
    "DefiProtocol.tvlDropPercent": ValueText(
        label="Value locked drops by", unit="%", help="Within the time below: this many or more."
    ),
    "DefiProtocol.windowMinutes": ValueText(label="Within", unit="min"),
    "DefiProtocol.oracle": ValueText(label="Price feed", help="The address of a feed as Chainlink's."),
    "DefiProtocol.maxOracleAgeSeconds": ValueText(label="Oldest price", unit="s"),
    "DefiProtocol.maxPriceDeviationPercent": ValueText(
        label="Price deviates by",
        unit="%",
        help="From the expected price, or the reference; with neither from its own of the time above.",
    ),
    "DefiProtocol.reference": ValueText(label="Reference", help="The address of another price feed."),
    "DefiProtocol.expectedPrice": ValueText(label="Expected price"),
    "DefiProtocol.pausedCheck": ValueText(label="Tell when the contract is paused"),
    "Subgraph.url": ValueText(label="GraphQL URL"),
    "Subgraph.maxBlocksBehind": ValueText(
        label="Most blocks behind", help="Further behind the chain's head an alert is raised."
    ),
    "Bridge.source": ValueText(label="Source", help="Where tokens are locked."),
    "Bridge.destination": ValueText(label="Destination", help="Where they are minted."),
    "Bridge.maxImbalancePercent": ValueText(
        label="Imbalance", unit="%", help="Minted more than is locked, by more than this."
    ),
    "Bridge.maxDelaySeconds": ValueText(
        label="Longest delay", unit="s", help="From the sending of a message to its delivery."
    ),
    "Bridge.depositEvent": ValueText(
        label="Event of a deposit",
        help="At the source, in full: Deposited(bytes32 indexed id, uint256 amount)",
    ),
    "Bridge.deliveryEvent": ValueText(
        label="Event of a delivery", help="At the destination, in full; its first argument is the same."
    ),
    "Side.contract": ValueText(label="Contract", help="The bridge's address there."),
    "Side.token": ValueText(label="Token", help="Its address there."),
    "ContractEvent.address": ValueText(label="Contract", help="Its address."),
    "ContractEvent.abi": ValueText(
        label="ABI",
        help="As JSON: of the contract, or the event's entry. Empty where the event is written in full.",
        control="json",
    ),
    "ContractEvent.eventName": ValueText(
        label="Event", help="Its name, or in full: Transfer(address indexed from, address to, uint256 value)"
    ),
    "ContractEvent.filters": ValueText(
        label="Filters",
        help='As JSON, by the names of arguments: {"to": "0x..."}, or a list of what is welcome.',
        control="json",
    ),
}
