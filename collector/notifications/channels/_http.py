"""Calls a provider's HTTP API with JSON; its response decides about a retry."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import orjson
from annotated_types import MaxLen, Predicate

from collector.platform.delivery import Undelivered
from collector.platform.plain_text import cut, one_line
from collector.platform.transport import HttpAnswer, NoAnswer, Transport
from shared import __version__
from shared.kinds.fields import ErrorText
from shared.kinds.http import is_url

TIMEOUT_S: Final = 30
# Error statuses after which a retry may succeed.
_PASSING: Final = frozenset({408, 409, 425, 429})
_TOLD: Final = 200
_SHORTEST_SECRET: Final = 4


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request to a provider; *body* is sent as JSON."""

    url: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def is_base(text: str) -> bool:
    """Whether it is an http or https URL without a password, to which a path can be appended."""
    return is_url(text) and not any(letter in text for letter in "?#@")


ApiUrl = Annotated[
    str,
    MaxLen(2048),
    Predicate(is_base),
    ErrorText("must be an http:// or https:// URL with a host, without user, query or fragment"),
]


def is_key(text: str) -> bool:
    """Whether it can be put into a header or a path unescaped."""
    return text.isascii() and text.isprintable() and not any(letter in text for letter in " /\\?#%")


async def post(call: ProviderRequest, transport: Transport) -> HttpAnswer:
    """Return the response, whatever its status. Raises Undelivered if there is none."""
    headers = {"Content-Type": "application/json", "User-Agent": f"Tocsin/{__version__}", **call.headers}
    try:
        return await transport.request(
            "POST", call.url, headers, orjson.dumps(call.body), timeout_s=TIMEOUT_S
        )
    except NoAnswer as error:
        raise Undelivered(str(error)) from None


def accepted(
    answer: HttpAnswer,
    *,
    secrets: Iterable[str],
    reason: Callable[[Any], str],
    retry_after: Callable[[Any], Any] = lambda _: None,
) -> HttpAnswer:
    """Return *answer* if it is a 2xx; else raise Undelivered with *reason*'s text, *secrets* removed.

    *retry_after* extracts the seconds to wait from a response without a Retry-After header.
    """
    if 200 <= answer.status < 300:
        return answer
    why, wait = explanation(answer, secrets, reason), _found(answer, retry_after)
    raise Undelivered(
        f"answered {answer.status}" + (f": {why}" if why else ""),
        status=answer.status,
        retry_after_s=answer.retry_after_s if wait is None else wait,
        lasting=300 <= answer.status < 500 and answer.status not in _PASSING,
    )


def explanation(answer: HttpAnswer, secrets: Iterable[str], reason: Callable[[Any], str]) -> str:
    """The provider's explanation, shortened; any secret that it repeats is removed."""
    found = str(_found(answer, reason) or "")
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            found = found.replace(secret, "********")
    return cut(one_line(found), _TOLD)


def _found(answer: HttpAnswer, look: Callable[[Any], Any]) -> Any:
    try:
        return look(read(answer))
    except (LookupError, TypeError, AttributeError):
        return None


def read(answer: HttpAnswer) -> Any:
    """The response's JSON, or its text if it is not JSON."""
    try:
        return orjson.loads(answer.body)
    except orjson.JSONDecodeError:
        return answer.body.decode("utf-8", "replace")


def number(value: object) -> float | None:
    """The number of seconds that a provider asks for, or None if *value* is not a number."""
    sound = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9
    return float(value) if sound and isinstance(value, int | float) else None
