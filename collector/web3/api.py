"""Findings of Web3 monitors as the API answers them."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from collector.history.storage.result_reads import ResultCursor
from collector.monitors.answers import (
    ChainLog,
    CrossedThreshold,
    KeptChainLog,
    MeasuredThreshold,
    TestedChain,
)
from collector.web3.storage.web3 import RaisedThreshold, StoredLog
from shared.findings import Finding, Findings


def tested(findings: Sequence[Finding]) -> TestedChain:
    """One check's findings: each threshold that it measured, and each log that it read."""
    read = [(each, _data(each.data)) for each in findings]
    return TestedChain(
        alerts=[
            MeasuredThreshold(type=each.key, raised=each.found is Findings.RAISED, **_measured(data))
            for each, data in read
            if each.found in {Findings.RAISED, Findings.RECOVERED} and data
        ],
        logs=[ChainLog(**_log(data)) for each, data in read if each.found is Findings.LOG],
    )


def alerts(raised: Sequence[RaisedThreshold]) -> list[CrossedThreshold]:
    """Thresholds that are crossed now; *told* is false while notifications are held back."""
    return [
        CrossedThreshold(
            type=each.key,
            since=each.raised_at,
            locations=list(each.locations),
            told=each.told_at is not None,
            **_measured(each.data),
        )
        for each in raised
    ]


def logs_of_results(
    logs: Mapping[ResultCursor, Sequence[StoredLog]],
) -> dict[ResultCursor, list[KeptChainLog]]:
    """The logs that each result brought; *removed*: the chain no longer contains it."""
    return {
        at: [KeptChainLog(**_log(each.data), removed=each.removed) for each in kept_logs]
        for at, kept_logs in logs.items()
    }


def _measured(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data.get(name) for name in ("current", "threshold", "unit", "message")}


def _log(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": data.get("name"),
        "args": data.get("args"),
        "address": data.get("address"),
        "transaction_hash": data.get("transactionHash"),
        "block_number": data.get("blockNumber"),
        "log_index": data.get("logIndex"),
        "error": data.get("error") or None,
    }


def _data(raw: bytes) -> dict[str, Any]:
    """Data from a probe should be a JSON object, but that is not guaranteed."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return data if isinstance(data, dict) else {}
