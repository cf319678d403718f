"""Findings of a check besides its outcome: crossed thresholds, logs of a chain; reported once."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

MAX_FINDINGS: Final = 500  # per result
MAX_KEY: Final = 128
MAX_BYTES: Final = 256 * 1024  # of all data of a result


class Findings(IntEnum):
    """Kinds of findings: the numbers are used on the wire and in tables, so they never change."""

    RAISED = 1  # a threshold was crossed at this location
    RECOVERED = 2  # it has recovered
    LOG = 3  # a single event
    RETRACTED = 4  # an announced log is no longer part of the chain


@dataclass(frozen=True, slots=True)
class Finding:
    """*key* identifies the finding within its monitor: an alert type, or ``0xTRANSACTION:INDEX`` of a log.

    *data* is a JSON object, camelCase, with integers as decimal strings; it may be empty.
    """

    found: Findings
    key: str
    data: bytes = b""


def bounded(findings: Sequence[Finding]) -> bool:
    """Whether a single result may contain all of *findings*."""
    return (
        len(findings) <= MAX_FINDINGS
        and all(0 < len(finding.key) <= MAX_KEY and "\0" not in finding.key for finding in findings)
        and sum(len(finding.data) for finding in findings) <= MAX_BYTES
    )
