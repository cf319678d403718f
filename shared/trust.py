"""TLS client contexts that verify a server alike on every Python and every build of OpenSSL."""

import ssl
from functools import cache
from pathlib import Path
from typing import Final

# Excludes only what browsers and curl reject; Python's own list lacks the only ciphers of many servers.
_CIPHERS: Final = "DEFAULT:@SECLEVEL=2"


def verifying(ca_file: Path | None = None) -> ssl.SSLContext:
    """A context that trusts the system's authorities, or only those of *ca_file*. It takes 20 ms."""
    return alike(ssl.create_default_context(cafile=ca_file))


@cache
def of_the_system() -> ssl.SSLContext:
    """The context shared by all HTTP/1.1 and SMTP clients."""
    return verifying()


def alike(context: ssl.SSLContext) -> ssl.SSLContext:
    """Normalize the options of *context* that differ between versions and builds of Python.

    Python 3.13 rejects certificates that violate RFC 5280 and trusts partial chains; Debian's Python leaves
    versions and ciphers to OpenSSL.
    """
    context.verify_flags &= ~(ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(_CIPHERS)
    return context
