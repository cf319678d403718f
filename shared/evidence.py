"""Evidence of a failed check: where it connected and what was answered, without secrets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MAX_HEADERS: Final = 20
MAX_BODY_BYTES: Final = 1024
# Limit of all texts together, in UTF-8.
MAX_BYTES: Final = 4096
HIDDEN: Final = "[redacted]"

_MAX_ADDRESS: Final = 64
_MAX_NAME: Final = 64
_MAX_VALUE: Final = 256
# Shorter secrets would match everywhere: they are redacted only as an entire value.
_SHORT: Final = 4
# Secrets are found by their beginning, since a response may contain no more of them.
_HEAD: Final = 32

_NAMED = (
    r"(?:auth(?!ors?(?![a-z]))|cookie|secret|token|passw|passphrase|pwd|credential|session|signature|jwt"
    r"|c?[sx]rf)"
)
_NAME = re.compile(rf"{_NAMED}|key", re.IGNORECASE)
_WORD = rf"(?:[\w.-]{{0,64}}?{_NAMED}[\w.-]{{0,64}}|[\w.-]{{0,64}}?keys?(?![\w.-]))"
_QUOTE = r"""(?:\\?["']|&(?:quot|\#3[49]);)?"""
_QUOTED = (
    r'"(?:[^"\\]|\\.)*"?',
    r'\\"(?:[^"\\]|\\[^"])*(?:\\")?',
    r"'(?:[^'\\]|\\.)*'?",
    r"&(?:quot|\#3[49]);[^&<]*(?:&(?:quot|\#3[49]);)?",
    r"\[[^\]]*\]?",
    r"""[^\s"'<>,;&{}\[\]]+""",
)
_PAIR = re.compile(rf"(?<![\w.-])({_WORD}{_QUOTE}\s{{0,8}}[:=]\s{{0,8}})({'|'.join(_QUOTED)})", re.IGNORECASE)
_FIELD = re.compile(
    rf"""(name={_QUOTE}{_WORD}{_QUOTE}\s{{1,8}}(?:[^<>]{{0,128}}?\s)?(?:value|content)=)("[^"]*"?|'[^']*'?|[^\s>]+)""",
    re.IGNORECASE,
)
_LINE = re.compile(r"^([\w-]{0,64}(?:cookie|authorization):[ \t]*)[^\r\n]+", re.IGNORECASE | re.MULTILINE)
_SCHEME = re.compile(r"\b(bearer|basic)\s{1,8}(?=[\w~/-]*[\d=_.+/-])[\w.~+/=-]{6,}", re.IGNORECASE)
_USERINFO = re.compile(r"://[^/\s@\"'<>?#]{1,256}@")
_JWT = re.compile(r"\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}")
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,32}KEY-----|\Z)", re.DOTALL
)
_CONTROLS = {*range(32), *range(127, 160)} - {*b"\t\n\r"}
_REPLACED = dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}")


@dataclass(frozen=True, slots=True)
class Evidence:
    """*address*: the peer, as ``192.0.2.1:443``; *headers* and *body*: the beginning of the response's.

    Empty if there was none.
    """

    address: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""

    @property
    def texts(self) -> list[str]:
        return [self.address, self.body, *(part for header in self.headers for part in header)]

    @property
    def size(self) -> int:
        """Total size of its texts in bytes."""
        return sum(len(text.encode()) for text in self.texts)


def redacted(seen: Evidence, secrets: Sequence[str] = (), *, whole: bool = True) -> Evidence:
    """*seen* without *secrets* and without what looks like a secret, truncated to the limits.

    *whole* False: the body was truncated before, so it may end within a secret. Idempotent.
    """
    wanted = sorted({secret for secret in secrets if secret}, key=len, reverse=True)
    headers = tuple((_clean(name)[:_MAX_NAME], _value(name, value, wanted)) for name, value in seen.headers)
    body = _without(_clean(seen.body), wanted)
    if not whole:
        body = _less_a_beginning(body, wanted)
    return _capped(Evidence(_clean(seen.address)[:_MAX_ADDRESS], headers, _plain(body)))


def _value(name: str, value: str, secrets: Sequence[str]) -> str:
    if _NAME.search(name):
        return HIDDEN
    return _plain(_without(_clean(value), secrets))[:_MAX_VALUE]


def _without(text: str, secrets: Sequence[str]) -> str:
    if text in secrets:
        return HIDDEN
    for secret in secrets:
        if len(secret) >= _SHORT and secret[:_HEAD] in text:
            text = _cut_out(text, secret)
    return text


def _cut_out(text: str, secret: str) -> str:
    """Replace *secret* in *text*, also where only its beginning occurs."""
    out, at, head = [], 0, secret[:_HEAD]
    while (found := text.find(head, at)) >= 0:
        end = found + len(head)
        while end < len(text) and end - found < len(secret) and text[end] == secret[end - found]:
            end += 1
        out += [text[at:found], HIDDEN]
        at = end
    return "".join([*out, text[at:]])


def _less_a_beginning(text: str, secrets: Sequence[str]) -> str:
    """Remove the beginning of a secret from the end of *text*."""
    for secret in secrets:
        for length in range(min(len(secret), _HEAD) - 1, _SHORT - 1, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + HIDDEN
    return text


def _plain(text: str) -> str:
    """Redact what looks like a secret by its name or form."""
    text = _PRIVATE.sub(HIDDEN, text)
    text = _JWT.sub(HIDDEN, text)
    text = _LINE.sub(rf"\1{HIDDEN}", text)
    text = _SCHEME.sub(rf"\1 {HIDDEN}", text)
    text = _USERINFO.sub(f"://{HIDDEN}@", text)
    text = _FIELD.sub(_hide_value, text)
    return _PAIR.sub(_hide_value, text)


def _hide_value(match: re.Match[str]) -> str:
    name, value = match[1], match[2]
    quote = next((mark for mark in ("&quot;", '\\"', '"', "'") if value.startswith(mark)), "")
    return f"{name}{quote}{HIDDEN}{quote}"


def _clean(text: str) -> str:
    """Valid UTF-8, without control characters that trouble terminals or PostgreSQL."""
    return text.encode("utf-8", "replace").decode().translate(_REPLACED)


def _capped(seen: Evidence) -> Evidence:
    body = seen.body.encode()[:MAX_BODY_BYTES].decode("utf-8", "ignore")
    room = MAX_BYTES - len(body.encode()) - len(seen.address.encode())
    headers = []
    for name, value in seen.headers[:MAX_HEADERS]:
        room -= len(name.encode()) + len(value.encode())
        if room < 0:
            break
        headers.append((name, value))
    return Evidence(seen.address, tuple(headers), body)
