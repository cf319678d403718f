"""Does the name system answer as it should?"""

import ipaddress
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import MaxLen, MinLen, Predicate

from shared.kinds.fields import ErrorText, HostName, is_host_and_port

RecordType = Literal["A", "AAAA", "CNAME", "MX", "TXT", "NS", "SOA", "SRV", "CAA"]
Rcode = Literal["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dns:
    """*host* is the name to look up with *resolver* (by default the probe's own).

    Each of *expected* must be among the answers, in zone-file notation, with or without the final dot:
    ``192.0.2.1``, ``10 mail.example.com``, ``0 issue "ca.example"``. *rcode* is the response code.
    """

    host: HostName
    """Name to look up."""
    record_type: RecordType = "A"
    """Type of the records to look up."""
    resolver: (
        Annotated[
            str,
            MinLen(1),
            MaxLen(300),
            Predicate(is_host_and_port),
            ErrorText("must be a host or an IP address, perhaps with a port"),
        ]
        | None
    ) = None
    """DNS server, with a port if it is not 53; by default the probe's own resolvers."""
    expected: Annotated[list[Annotated[str, MinLen(1), MaxLen(4096)]], MaxLen(100)] = field(
        default_factory=list
    )
    """Records that must be among the answers, written as in zone files: `192.0.2.1`, `10 mail.example.com`.
    """
    rcode: Rcode = "NOERROR"
    """Response code that the server must return."""

    def faults(self) -> dict[str, str]:
        """An address is not a name; and a response with an error has no answers."""
        found = {}
        try:
            ipaddress.ip_address(self.host.strip("[]"))
            found["host"] = "must be a name, not an address"
        except ValueError:
            pass
        if self.expected and self.rcode != "NOERROR":
            found["expected"] = f"there are no answers with {self.rcode}"
        return found
