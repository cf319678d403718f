"""Writes CSV (RFC 4180) whose texts no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

# With these a cell begins that a spreadsheet would compute.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_lines(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return a line for each row, in UTF-8."""
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def harmless(text: str) -> str:
    """Return *text* with an apostrophe before it if it might be a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text
