"""Findings of Web3 monitors in the API."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from collector.history.storage.result_reads import ResultCursor
from collector.web3.storage.web3 import Raised, StoredLog
from shared.clock import iso
from shared.findings import Finding, Findings

_MEASURED: Final = ("current", "threshold", "unit", "message")
_LOG: Final = ("name", "args", "address", "transactionHash", "blockNumber", "logIndex")


def found(findings: Sequence[Finding]) -> dict[str, Any]:
    """One check's findings: each threshold that it measured, and each log that it read."""
    read = [(one, _data(one.data)) for one in findings]
    return {
        "alerts": [
            {"type": one.key, "raised": one.found is Findings.RAISED, **_measured(data)}
            for one, data in read
            if one.found in {Findings.RAISED, Findings.RECOVERED} and data
        ],
        "logs": [_plain(data) for one, data in read if one.found is Findings.LOG],
    }


def alerts(raised: Sequence[Raised]) -> list[dict[str, Any]]:
    """Thresholds that are crossed now; *told* is false while notifications are held back."""
    return [
        {
            "type": one.key,
            "since": iso(one.raised_at),
            "locations": list(one.locations),
            "told": one.told_at is not None,
            **_measured(one.data),
        }
        for one in raised
    ]


def brought(logs: Mapping[ResultCursor, Sequence[StoredLog]]) -> dict[ResultCursor, dict[str, Any]]:
    """The additional fields of each result."""
    return {at: {"logs": [log(one) for one in found]} for at, found in logs.items()}


def log(shown: StoredLog) -> dict[str, Any]:
    """A log; *removed*: the chain no longer contains it."""
    return {**_plain(shown.data), "removed": shown.removed}


def _measured(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data.get(name) for name in _MEASURED}


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    error = data.get("error")
    return {name: data.get(name) for name in _LOG} | ({"error": error} if error else {})


def _data(raw: bytes) -> dict[str, Any]:
    """Data from a probe should be a JSON object, but that is not guaranteed."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return data if isinstance(data, dict) else {}
