"""Percentages, kept exactly as written."""

from decimal import Decimal
from typing import Annotated, Final

from annotated_types import MaxLen, Predicate

from shared.kinds.fields import Says
from shared.kinds.web3.fields import amount

_LEAST: Final = Decimal("0.001")
# More than all of it, as prices may rise by.
_MOST: Final = 10_000
_NONE: Final = Decimal(-1)


def is_part(value: str | float) -> bool:
    """Is it a share of something that can be lost?"""
    return _LEAST <= _number(value) <= 100


def is_change(value: str | float) -> bool:
    """Is it a share by which something may differ, or no difference at all?"""
    return 0 <= _number(value) <= _MOST


def _number(value: str | float) -> Decimal:
    """Below all bounds if it is none."""
    try:
        return amount(value) if str(value).isascii() else _NONE
    except ValueError:
        return _NONE


Number = Annotated[str, MaxLen(128)] | int | float
Part = Annotated[Number, Predicate(is_part), Says("must be a number from 0.001 to 100")]
Change = Annotated[Number, Predicate(is_change), Says(f"must be a number from 0 to {_MOST}")]
