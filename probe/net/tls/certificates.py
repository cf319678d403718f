"""Faults of a certificate, in the words of those who must replace it."""

import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

_MOST_LETTERS: Final = 100
_DAY_S: Final = 86_400
_HOUR_S: Final = 3_600
_MINUTE_S: Final = 60


@dataclass(frozen=True, slots=True)
class Certificate:
    """*subject* and *issuer* are human-readable names; *names*: the certificate's hosts."""

    subject: str
    issuer: str
    names: tuple[str, ...]
    starts: float
    ends: float


@dataclass(frozen=True, slots=True)
class Case:
    """A chain as it was sent, its host, and the time; *reason*: OpenSSL's text."""

    chain: Sequence[Certificate]
    host: str
    now: float
    reason: str

    @property
    def leaf(self) -> Certificate:
        return self.chain[0]


def read(sent: Sequence[Any]) -> list[Certificate]:
    """Parse OpenSSL's certificates. Raises ValueError for an unsupported one."""
    return [_certificate(item.get_info()) for item in sent]


def words(code: int, case: Case) -> str:
    """Why *case* was not trusted; *code* is OpenSSL's verdict (X509_V_ERR_*)."""
    say = _WORDS.get(code) if case.chain else None
    if say is not None:
        return say(case)
    return _PLAIN.get(code, f"certificate does not verify: {case.reason}")


def _certificate(info: dict[str, Any]) -> Certificate:
    names = [value for kind, value in info.get("subjectAltName", ()) if kind in {"DNS", "IP Address"}]
    return Certificate(
        subject=_known_as(info["subject"]),
        issuer=_known_as(info["issuer"]),
        names=tuple(clean(name) for name in names),
        starts=ssl.cert_time_to_seconds(info["notBefore"]),
        ends=ssl.cert_time_to_seconds(info["notAfter"]),
    )


def _known_as(name: Sequence[Sequence[tuple[str, str]]]) -> str:
    parts = {key: value for pairs in name for key, value in pairs}
    for key in ("commonName", "organizationName", "organizationalUnitName"):
        if parts.get(key):
            return clean(parts[key])
    return "without a name"


def clean(text: str) -> str:
    """Sanitize for display: a certificate may contain any text."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return shown if len(shown) <= _MOST_LETTERS else shown[:_MOST_LETTERS] + "..."


def _expired(case: Case) -> str:
    certificate = next((one for one in case.chain if one.ends < case.now), None)
    if certificate is None:
        return "certificate of its authority has expired"
    return f"{_whose(certificate, case)} expired {_ago(case.now - certificate.ends)}"


def _too_early(case: Case) -> str:
    certificate = next((one for one in case.chain if one.starts > case.now), None)
    if certificate is None:
        return "certificate of its authority is not valid yet"
    form = "%Y-%m-%d" if certificate.starts - case.now >= _DAY_S else "%Y-%m-%d %H:%M UTC"
    starts = datetime.fromtimestamp(certificate.starts, UTC)
    return f"{_whose(certificate, case)} is not valid before {starts:{form}}"


def _whose(certificate: Certificate, case: Case) -> str:
    return "certificate" if certificate is case.leaf else f"certificate of its issuer {certificate.subject}"


def _ago(seconds: float) -> str:
    for size, unit in ((_DAY_S, "day"), (_HOUR_S, "hour"), (_MINUTE_S, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def _another_name(case: Case) -> str:
    names = case.leaf.names
    if not names:
        return f"certificate names no host, so it is not for {case.host}"
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"certificate is for {names[0]}{more}, not {case.host}"


def _no_issuer(case: Case) -> str:
    last = _last(case)
    if last is case.leaf:
        return f"chain is incomplete: issuer {last.issuer} was not sent, and is no trusted authority itself"
    return f"issued by an authority that is not trusted ({last.issuer})"


def _untrusted(case: Case) -> str:
    return f"issued by an authority that is not trusted ({_last(case).subject})"


def _last(case: Case) -> Certificate:
    """The end of the chain that starts at the leaf; other certificates are ignored."""
    last, left = case.leaf, list(case.chain[1:])
    while left and last.issuer != last.subject:
        issuer = next((certificate for certificate in left if certificate.subject == last.issuer), None)
        if issuer is None:
            break
        left.remove(issuer)
        last = issuer
    return last


_WORDS: Final[dict[int, Callable[[Case], str]]] = {
    2: _no_issuer,
    9: _too_early,
    10: _expired,
    19: _untrusted,
    20: _no_issuer,
    21: _no_issuer,
    62: _another_name,
    64: _another_name,
}
EXPLAINED: Final = frozenset(_WORDS)
# The texts if the certificate could not be read, or if the verdict is sufficient.
_PLAIN: Final = {
    2: "certificate's issuer is not known, or missing from the chain",
    7: "certificate has a wrong signature",
    9: "certificate is not valid yet",
    10: "certificate has expired",
    18: "self-signed certificate",
    19: "certificate is signed by an authority that is not trusted",
    20: "certificate's issuer is not known, or missing from the chain",
    21: "certificate's issuer is not known, or missing from the chain",
    23: "certificate has been revoked",
    24: "certificate's issuer may not issue certificates",
    25: "chain is longer than its authority allows",
    26: "certificate is not meant for servers",
    47: "certificate is outside of what its issuer may issue for",
    62: "certificate is for another host",
    64: "certificate is for another host",
    66: "certificate's key is too weak",
    67: "key of the certificate's issuer is too weak",
    68: "certificate's signature is too weak",
    79: "certificate's issuer may not issue certificates",
}
