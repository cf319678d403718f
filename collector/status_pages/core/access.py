"""Who may see a private status page without its password: visitors from networks, and signed-in people."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Annotated, Final

from annotated_types import MaxLen, MinLen, Predicate

from collector.status_pages.core.fields import Domain, WebUrl
from shared.kinds.fields import ErrorText

_MOST: Final = 50


def is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


Network = Annotated[
    str,
    MaxLen(64),
    Predicate(is_network),
    ErrorText("must be an address range, as 192.0.2.0/24 or 2001:db8::/32"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessSettings:
    """The writable settings of the access to a private page; the client secret is write-only."""

    networks: Annotated[list[Network], MaxLen(_MOST)] = field(default_factory=list)
    """Address ranges from which a private page is open to everybody."""
    issuer: WebUrl | None = None
    """Issuer of an OpenID Connect provider, exactly as the provider spells it."""
    client_id: Annotated[str, MinLen(1), MaxLen(255)] | None = None
    """Id of this page at the provider."""
    client_secret: Annotated[str, MinLen(1), MaxLen(1_024)] | None = None
    """Secret of this page at the provider. Write-only."""
    email_domains: Annotated[list[Domain], MaxLen(_MOST)] = field(default_factory=list)
    """Domains of the email addresses that may enter, without their subdomains."""

    def faults(self) -> dict[str, str]:
        """A provider needs its client's id and the domains that it may admit."""
        if self.issuer is None:
            return {}
        return {
            name: "is required with an issuer"
            for name, value in {"clientId": self.client_id, "emailDomains": self.email_domains}.items()
            if not value
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAccess:
    """The stored settings; *sealed_secret*: of the client at the provider."""

    networks: Sequence[str] = ()
    issuer: str | None = None
    client_id: str | None = None
    sealed_secret: bytes | None = None
    email_domains: Sequence[str] = ()

    @property
    def key(self) -> str:
        """The secret by which tickets of signed-in visitors are signed; empty without a provider.

        It changes with the provider and the domains, so that no older ticket is valid then.
        """
        if self.issuer is None or self.sealed_secret is None:
            return ""
        return json.dumps([self.issuer, self.client_id, self.sealed_secret.hex(), sorted(self.email_domains)])

    def opens_for(self, address: str) -> bool:
        """Whether the page is open to visitors from this address."""
        try:
            visitor = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        visitor = getattr(visitor, "ipv4_mapped", None) or visitor
        return any(visitor in ip_network(network) for network in self.networks)

    def takes(self, email: str) -> bool:
        """Whether a person with this address, which the provider has verified, may enter."""
        local, _, domain = email.rpartition("@")
        return bool(local) and domain.lower() in {admitted.lower() for admitted in self.email_domains}
