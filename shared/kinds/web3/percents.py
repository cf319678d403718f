"""Percentages, kept exactly as written."""

from decimal import Decimal
from typing import Annotated, Final

from annotated_types import MaxLen, Predicate

from shared.kinds.fields import ErrorText
from shared.kinds.web3.fields import amount

_LEAST: Final = Decimal("0.001")
# Over 100 %, since prices may rise by more.
_MOST: Final = 10_000
_NONE: Final = Decimal(-1)


def is_part(value: str | float) -> bool:
    """Whether it is a valid percentage of a loss."""
    return _LEAST <= _number(value) <= 100


def is_change(value: str | float) -> bool:
    """Whether it is a valid percentage of a change, zero included."""
    return 0 <= _number(value) <= _MOST


def _number(value: str | float) -> Decimal:
    """The number; below all bounds if it is invalid."""
    try:
        return amount(value) if str(value).isascii() else _NONE
    except ValueError:
        return _NONE


Number = Annotated[str, MaxLen(128)] | int | float
Part = Annotated[Number, Predicate(is_part), ErrorText("must be a number from 0.001 to 100")]
Change = Annotated[Number, Predicate(is_change), ErrorText(f"must be a number from 0 to {_MOST}")]
