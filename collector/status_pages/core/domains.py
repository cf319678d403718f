"""Proof of ownership of a custom domain, and the service's own names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from shared import ids

FILE: Final = "/.well-known/tocsin"


@dataclass(frozen=True, slots=True)
class DomainChallenge:
    """*value* must be in the TXT record *record*, or in the file at *url*."""

    record: str
    value: str
    url: str


def asked_of(domain: str, page_id: UUID) -> DomainChallenge:
    """The proof that is required; it names the page, so the domain's owner chooses which page gets it."""
    return DomainChallenge(
        f"_tocsin.{domain}", f"tocsin={ids.show('sp', page_id)}", f"https://{domain}{FILE}"
    )


def proves(proof: DomainChallenge, texts: Sequence[str]) -> bool:
    """Whether the proof is among *texts*, the values of records or the lines of files."""
    return any(proof.value in {line.strip() for line in text.splitlines()} for text in texts)


def is_own(host: str, public_url: str, hosts: Collection[str]) -> bool:
    """Whether *host* (lower case) is a name of the service itself; ``*.example.com`` matches subdomains."""
    own = {urlsplit(public_url).hostname, *map(str.lower, hosts)}
    below = {f"*.{host.split('.', at)[at]}" for at in range(1, host.count(".") + 1)}
    return host in own or not own.isdisjoint(below)
