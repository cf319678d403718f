"""``tocsin check web3``: flags for the usual fields, JSON for the rest."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from probe.checks import Kept, prepare
from shared.findings import Finding, Findings
from shared.kinds import UMBRELLA, WEB3, effective, load
from shared.kinds.fields import camel
from shared.kinds.web3.fields import is_address
from shared.results import Outcome

Options = argparse.Namespace

_ADDRESSES: Final = ("address", "contract", "token", "pool", "oracle", "reference")
# Flags for single fields; all other fields are set by --config.
_FLAGS: Final = {
    "chain": "a chain's name or id",
    "rpc_quorum": "number of nodes that must agree",
    "address": "a wallet, a position, or the contract whose events are read",
    "contract": "the protocol's contract",
    "token": "an ERC-20 contract",
    "pool": "the lending pool",
    "threshold": "for whale_wallet, in whole units",
    "min_health_factor": "for liquidation",
    "protocol": "for liquidation: aave_v3 or compound_v3",
    "event_name": "a name in the ABI, or a full signature",
    "url": "of the subgraph",
}
_MOST_BLOCKS: Final = 100_000


def add(types: Any, common: argparse.ArgumentParser) -> None:
    """Add a parser to *types*, with the *common* options."""
    parser: argparse.ArgumentParser = types.add_parser(
        "web3",
        parents=[common],
        allow_abbrev=False,
        help="a chain, a contract or a wallet; SUBTYPE is a TYPE, too",
        description="Exit status: 0 up and no threshold crossed, 1 otherwise, 2 misuse, 3 unknown from here.",
    )
    parser.add_argument("sub_type", metavar="SUBTYPE", choices=WEB3, help=", ".join(WEB3))
    parser.add_argument("--rpc-url", metavar="URL", action="append", help="a node; repeatable")
    for name, text in _FLAGS.items():
        parser.add_argument(_flag(name), metavar=name.rpartition("_")[2].upper(), help=text)
    for name in ("high", "low"):
        parser.add_argument(f"--{name}", metavar="GWEI", help="for gas_price")
    parser.add_argument("--config", metavar="JSON", type=_object, default={}, help="any fields of its config")
    parser.add_argument(
        "--blocks", metavar="N", type=_blocks, default=0, help="also check this many past blocks"
    )
    parser.set_defaults(read=_read)


def rows(outcome: Outcome) -> Iterator[str]:
    """The findings, one line each."""
    for finding in outcome.found:
        told = _told(finding)
        if finding.found is Findings.LOG:
            where = f"block {told.get('blockNumber')}"
            yield f"  {told.get('name', '')!s:<20}{where:<16}{orjson.dumps(told.get('args')).decode()}"
        elif finding.found in {Findings.RAISED, Findings.RECOVERED}:
            state = "CROSSED" if finding.found is Findings.RAISED else "ok"
            yield f"  {finding.key:<20}{state:<10}{told.get('message', '')}"


def found(outcome: Outcome) -> list[dict[str, Any]]:
    """The findings as JSON."""
    return [
        {"found": finding.found.name.lower(), "key": finding.key, **_told(finding)}
        for finding in outcome.found
    ]


def crossed(outcome: Outcome) -> bool:
    """Whether a threshold is crossed."""
    return any(finding.found is Findings.RAISED for finding in outcome.found)


def rewound(state: bytes, blocks: int) -> bytes:
    """The checkpoint *state*, set back by *blocks* blocks."""
    from probe.web3.checkpoint import changed  # noqa: PLC0415 - loaded only for web3 monitors
    from probe.web3.reader import Cursor  # noqa: PLC0415

    def back(more: dict[str, Any]) -> dict[str, Any]:
        cursor = Cursor.of(more.get("cursor"))
        if cursor is None:
            return more
        return {"cursor": replace(cursor, next=max(cursor.next - blocks, 0), index=0, known=()).plain()}

    return changed(state, back)


def _read(options: Options) -> dict[str, Any]:
    """Read the configuration. Raises ValueError if it is invalid."""
    config = dict(options.config)
    config |= {camel(name): value for name in _FLAGS if (value := getattr(options, name)) is not None}
    if options.rpc_url:
        config["rpcUrl"] = options.rpc_url
    if options.rpc_quorum is not None:
        config["rpcQuorum"] = int(options.rpc_quorum)
    limits = {name: value for name in ("high", "low") if (value := getattr(options, name)) is not None}
    if limits:
        config["thresholds"] = limits
    if options.sub_type == WEB3[-1] and "chain" in config:
        config["chainId"] = config.pop("chain")
    config["subType"] = options.sub_type
    options.shown = " ".join([options.sub_type, *_shown(config)])
    _demand(config)
    return config


def _shown(config: Mapping[str, Any]) -> Iterator[str]:
    for name in ("chain", "chainId", *_ADDRESSES):
        value = config.get(name)
        if isinstance(value, str | int):
            yield str(value)[:64]


def _demand(config: Mapping[str, Any]) -> None:
    """Raise ValueError for a configuration whose shape the collector would reject."""
    for name in _ADDRESSES:
        value = config.get(name)
        if value is not None and not (isinstance(value, str) and is_address(value)):
            msg = f"{name} must be an address: 0x and 40 hexadecimal digits"
            raise ValueError(msg)
    try:
        kind: Any = load(effective(UMBRELLA, config), config)
        faults = kind.faults() if hasattr(kind, "faults") else {}
        for name, text in faults.items():
            msg = f"{name} {text}"
            raise ValueError(msg)
        prepare(effective(UMBRELLA, config), kind, Kept())
    except (TypeError, AttributeError) as error:
        msg = f"a field is missing, or of another shape: {error}"
        raise ValueError(msg) from None
    if config["subType"] != "bridge" and not config.get("rpcUrl"):
        raise ValueError("rpcUrl is empty: name a node with --rpc-url")


def _told(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = orjson.loads(finding.data)
    return told


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _object(text: str) -> dict[str, Any]:
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        said = None
    if not isinstance(said, dict):
        raise argparse.ArgumentTypeError("must be a JSON object")
    return said


def _blocks(text: str) -> int:
    if not text.isdigit() or int(text) > _MOST_BLOCKS:
        msg = f"must be a number, at most {_MOST_BLOCKS}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)
