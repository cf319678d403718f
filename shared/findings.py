"""Findings of a check besides its outcome: crossed thresholds, logs of a chain; reported once."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

MAX_FINDINGS: Final = 500  # of one result
MAX_KEY: Final = 128
MAX_BYTES: Final = 256 * 1024  # of all the data of one result


class Findings(IntEnum):
    """What kind of finding: the numbers are on the wire and in the tables, so they never change."""

    RAISED = 1  # a threshold was crossed at this location
    RECOVERED = 2  # it is no longer
    LOG = 3  # something happened, once
    RETRACTED = 4  # a log that was told is no part of the chain


@dataclass(frozen=True, slots=True)
class Finding:
    """*key* names what was found within its monitor: an alert type, or ``0xTRANSACTION:INDEX`` of a log.

    *data* is a JSON object, camelCase, with integers as decimal strings; it may be empty.
    """

    found: Findings
    key: str
    data: bytes = b""


def bounded(findings: Sequence[Finding]) -> bool:
    """May one result carry all of *findings*?"""
    return (
        len(findings) <= MAX_FINDINGS
        and all(0 < len(one.key) <= MAX_KEY and "\0" not in one.key for one in findings)
        and sum(len(one.data) for one in findings) <= MAX_BYTES
    )
