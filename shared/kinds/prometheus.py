"""Do samples of these series keep coming by remote write, and are their values in bounds?"""

from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import Says, Secret
from shared.tokens import new_token

_MAX_TEXT: Final = 1_024
_MAX_DAY: Final = 86_400


def is_filter(text: str) -> bool:
    """Is its pattern, if it has one, one that can be searched for without ever hanging?"""
    if not text.startswith(("=~", "!~")):
        return True
    import re2  # noqa: PLC0415 - the collector's alone, and only there is a filter read

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text[2:], options)
    except re2.error:
        return False
    return True


def are_names(values: dict[str, str]) -> bool:
    return all(0 < len(name) <= _MAX_TEXT for name in values)


def is_token(text: str) -> bool:
    return not text or (len(text) >= 16 and text.isascii() and text.isprintable() and " " not in text)


Filter = Annotated[
    str, MaxLen(_MAX_TEXT), Predicate(is_filter), Says("must be a text, or a pattern of RE2 after =~ or !~")
]
Filters = Annotated[
    dict[str, Filter], MaxLen(32), Predicate(are_names), Says("names must be 1 to 1024 characters long")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What fails the check: a series of *metric* whose values are so for *for_* seconds."""

    metric: Annotated[str, MinLen(1), MaxLen(_MAX_TEXT)]
    op: Literal["gt", "ge", "lt", "le", "eq", "ne"]
    value: float
    for_: Annotated[int, Interval(ge=0, le=_MAX_DAY)] = 0


StaleAfter = Annotated[int, Interval(ge=1, le=7 * _MAX_DAY)]
Conditions = Annotated[list[Condition], MaxLen(20)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """*stale_after* in seconds, three intervals if it is not said; *auth_token* is made if none is given."""

    label_filters: Filters = field(default_factory=dict)
    stale_after: StaleAfter | None = None
    conditions: Conditions = field(default_factory=list)
    auth_token: Annotated[
        str,
        MaxLen(256),
        Predicate(is_token),
        Says("must be 16 to 256 printable ASCII characters without spaces"),
        Secret(),
    ] = field(default_factory=new_token)
