"""TLS client contexts that verify a server alike on every Python and every build of OpenSSL."""

import ssl
from functools import cache
from pathlib import Path
from typing import Final

# What browsers and curl refuse, no more: Python's own list leaves out what many servers still offer alone.
_CIPHERS: Final = "DEFAULT:@SECLEVEL=2"


def verifying(ca_file: Path | None = None) -> ssl.SSLContext:
    """Trusts the system's authorities, or those of *ca_file* alone. It takes 20 ms."""
    return alike(ssl.create_default_context(cafile=ca_file))


@cache
def of_the_system() -> ssl.SSLContext:
    """One that all clients over HTTP/1.1 and SMTP share."""
    return verifying()


def alike(context: ssl.SSLContext) -> ssl.SSLContext:
    """*context*, with all that versions and builds of Python set differently.

    Python 3.13 refuses certificates for their form (RFC 5280 to the letter) and trusts partial chains;
    Debian's Python leaves versions and ciphers to OpenSSL.
    """
    context.verify_flags &= ~(ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    return context
