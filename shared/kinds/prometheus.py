"""Do samples of these series keep coming by remote write, and are their values in bounds?"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from annotated_types import Interval, MaxLen, MinLen, Predicate

from shared.kinds.fields import ErrorText, Secret
from shared.tokens import new_token

_MAX_TEXT: Final = 1_024
_MAX_DAY: Final = 86_400
_MATCHER: Final = re.compile(
    r"""\s*(?P<name>[^\s=!~"'{},]+)\s*"""
    r"""((?P<op>=~|!~|!=|=)\s*((?P<quote>["'])(?P<quoted>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)|(?P<bare>[^\s"']*)))?\s*""",
    re.DOTALL,
)
_OPERATORS: Final = ("=~", "!~", "!=")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t"}
# A filter that matches any nonempty value.
_PRESENT: Final = "!="


def is_filter(text: str) -> bool:
    """Whether its pattern, if it has one, is valid RE2, which never backtracks."""
    if not text.startswith(("=~", "!~")):
        return True
    import re2  # noqa: PLC0415 - only the collector has it and parses filters

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text[2:], options)
    except re2.error:
        return False
    return True


def parse_matcher(text: str) -> tuple[str, str]:
    """Parse a PromQL matcher (``job="x"``, ``job=~"x.*"``) or a bare name into name and filter.

    Raises ValueError for anything else.
    """
    match = _MATCHER.fullmatch(text)
    if match is None or len(match["name"]) > _MAX_TEXT:
        msg = f"no matcher: {text!r}"
        raise ValueError(msg)
    if match["op"] is None:
        return match["name"], _PRESENT
    quoted = match["quoted"]
    value = _ESCAPED.sub(_unescaped, quoted) if quoted is not None else match["bare"]
    if match["op"] != "=":
        return match["name"], match["op"] + value
    # A value that starts like an operator can only be expressed as a pattern.
    return match["name"], f"=~{re.escape(value)}" if value.startswith(_OPERATORS) else value


def _unescaped(escape: re.Match[str]) -> str:
    return _ESCAPES.get(escape[1], escape[1])


def is_matcher(text: str) -> bool:
    """Whether it is a name, or a name with an operator and a valid value."""
    try:
        return is_filter(parse_matcher(text)[1])
    except ValueError:
        return False


def alternatives(
    filters: Mapping[str, str | Sequence[str]] | Sequence[str],
) -> Iterator[tuple[str, Sequence[str]]]:
    """Each filtered label's name, and its filters, of which the value must match one."""
    if isinstance(filters, Mapping):
        for name, filter_ in filters.items():
            yield name, [filter_] if isinstance(filter_, str) else filter_
    else:
        for text in filters:
            name, filter_ = parse_matcher(text)
            yield name, [filter_]


def are_names(values: Mapping[str, object]) -> bool:
    return all(0 < len(name) <= _MAX_TEXT for name in values)


def is_token(text: str) -> bool:
    return not text or (len(text) >= 16 and text.isascii() and text.isprintable() and " " not in text)


Filter = Annotated[
    str,
    MaxLen(_MAX_TEXT),
    Predicate(is_filter),
    ErrorText("must be a text, or a pattern of RE2 after =~ or !~"),
]
Matcher = Annotated[
    str,
    MaxLen(2 * _MAX_TEXT),
    Predicate(is_matcher),
    ErrorText('must be a matcher (name="text", name=~"pattern", !=, !~) or a name that must be there'),
]
_BY_NAME = Annotated[
    dict[str, Filter | Annotated[list[Filter], MinLen(1), MaxLen(32)]],
    MaxLen(32),
    Predicate(are_names),
    ErrorText("names must be 1 to 1024 characters long"),
]
# Values by name, or several of which one must match; or a list of matchers that must all match.
Filters = _BY_NAME | Annotated[list[Matcher], MaxLen(32)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Fails the check while a series of *metric* meets the comparison for *for_* seconds."""

    metric: Annotated[str, MinLen(1), MaxLen(_MAX_TEXT)]
    """Name of the metric."""
    op: Literal["gt", "ge", "lt", "le", "eq", "ne"]
    """Comparison of each series' value with `value`."""
    value: float
    """Number that the series' values are compared with."""
    for_: Annotated[int, Interval(ge=0, le=_MAX_DAY)] = 0
    """Seconds for which the comparison must hold without a break."""


StaleAfter = Annotated[int, Interval(ge=1, le=7 * _MAX_DAY)]
Conditions = Annotated[list[Condition], MaxLen(20)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """*stale_after* in seconds, by default three intervals; *auth_token* is generated if omitted."""

    label_filters: Filters = field(default_factory=dict)
    """Labels that a series must carry to be taken: by name a value, or a pattern after `=~`, `!~`, `!=`."""
    stale_after: StaleAfter | None = None
    """Seconds without samples after which the monitor fails; without it three intervals."""
    conditions: Conditions = field(default_factory=list)
    """Conditions that fail the monitor, each on the values of a metric."""
    auth_token: Annotated[
        str,
        MaxLen(256),
        Predicate(is_token),
        ErrorText("must be 16 to 256 printable ASCII characters without spaces"),
        Secret(),
    ] = field(default_factory=new_token)
    """Token that senders present; made by the service if none is given. A secret: masked for read-only
    tokens.
    """
