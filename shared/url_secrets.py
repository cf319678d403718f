"""Finds secrets in a URL: its password, and query values whose names say so."""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote, unquote_plus

MASK: Final = "********"
# The part before the password, and the password.
_PASSWORD: Final = re.compile(r"^(\w+://[^/?#:]*:)([^/?#]*)@")
_QUERY: Final = re.compile(r"^(\w+://[^?#]*\?)([^#]*)", re.DOTALL)
_REST: Final = re.compile(r"[^a-z0-9]")
# In lower case, without separators between words.
_NAMES: Final = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apisecret",
        "apitoken",
        "appkey",
        "appsecret",
        "auth",
        "authkey",
        "authorization",
        "authtoken",
        "bearer",
        "bearertoken",
        "clientsecret",
        "credential",
        "credentials",
        "hmac",
        "idtoken",
        "jwt",
        "key",
        "pass",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "pwd",
        "refreshtoken",
        "secret",
        "secretkey",
        "securitytoken",
        "sessiontoken",
        "sig",
        "sign",
        "signature",
        "subscriptionkey",
        "token",
        "xamzsecuritytoken",
        "xamzsignature",
        "xapikey",
        "xgoogsignature",
    }
)


def masked(url: str) -> str:
    """*url* with each secret masked; the secrets' names, the host and the path stay visible."""
    return _each_value(_PASSWORD.sub(rf"\g<1>{MASK}@", url), lambda _name, _value: MASK)


def restored(sent: str, old: str) -> str:
    """*sent* with each mask replaced by the secret of the same name in *old*."""
    now, before = _PASSWORD.match(sent), _PASSWORD.match(old)
    if now and before and now[2] == MASK:
        sent = now[1] + before[2] + sent[now.end(2) :]
    known: defaultdict[str, deque[str]] = defaultdict(deque)
    for name, value in _secrets(old):
        known[name].append(value)

    def known_or(name: str, value: str) -> str:
        was = known[name].popleft() if known[name] else value
        return was if value == MASK else value

    return _each_value(sent, known_or)


def query_secrets(url: str) -> Iterator[str]:
    """The secret values of its query, encoded and decoded."""
    for _, value in _secrets(url):
        yield from dict.fromkeys((value, unquote(value), unquote_plus(value)))


def _secrets(url: str) -> Iterator[tuple[str, str]]:
    """Names and values, as written in the URL."""
    match = _QUERY.match(url)
    for part in match[2].split("&") if match else ():
        name, _, value = part.partition("=")
        if _is_secret(name, value):
            yield name, value


def _each_value(url: str, change: Callable[[str, str], str]) -> str:
    """*url* with *change* applied to each secret value of its query."""
    match = _QUERY.match(url)
    if match is None:
        return url
    parts = []
    for part in match[2].split("&"):
        name, _, value = part.partition("=")
        parts.append(f"{name}={change(name, value)}" if _is_secret(name, value) else part)
    return match[1] + "&".join(parts) + url[match.end() :]


def _is_secret(name: str, value: str) -> bool:
    return value != "" and _REST.sub("", unquote_plus(name).lower()) in _NAMES
