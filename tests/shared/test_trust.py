"""A client judges a server alike on every Python: what versions and builds set differently is set here."""

import ast
import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared import trust
from tests.probe.net.zoo import MIDDLE, ROOT, Issued, issue, serving
from tests.streams import stream_server
from tests.test_shapes import PRODUCT, at, tree

OLD_FORM = issue("localhost", ROOT, hosts=("localhost",))  # says nothing of its issuer's key
MAKERS = {"create_default_context", "SSLContext", "_create_unverified_context"}


def as_of_python_3_13() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def as_of_debian() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    return context


def trusting(authority: Issued, context: ssl.SSLContext) -> ssl.SSLContext:
    context.load_verify_locations(cadata=authority.pem.decode())
    return trust.alike(context)


@contextlib.asynccontextmanager
async def greeting(context: ssl.SSLContext) -> AsyncIterator[int]:
    """A server that says hello."""

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    async with stream_server(greet, tls=context) as port:
        yield port


def said(port: int, context: ssl.SSLContext) -> bytes:
    """All that the server says until the end of TLS. Raises ssl.SSLError."""
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as sock,
    ):
        return b"".join(iter(lambda: sock.recv(100), b""))


@pytest.mark.parametrize("made", [as_of_python_3_13, as_of_debian], ids=["3.13", "debian"])
async def test_a_certificate_of_the_old_form_is_trusted(made: object) -> None:
    assert callable(made)
    async with greeting(serving(OLD_FORM)) as port:
        assert await asyncio.to_thread(said, port, trusting(ROOT, made())) == b"hello"


async def test_an_authority_that_is_no_root_is_not_trusted_by_itself() -> None:
    async with greeting(serving(issue("localhost", MIDDLE, hosts=("localhost",)), MIDDLE)) as port:
        with pytest.raises(ssl.SSLCertVerificationError, match="unable to get issuer certificate"):
            await asyncio.to_thread(said, port, trusting(MIDDLE, as_of_python_3_13()))


async def test_a_server_with_old_ciphers_alone_is_spoken_with() -> None:
    server = serving(OLD_FORM)
    server.maximum_version = ssl.TLSVersion.TLSv1_2
    server.set_ciphers("ECDHE-ECDSA-AES128-SHA:AES128-SHA:@SECLEVEL=0")
    async with greeting(server) as port:
        assert await asyncio.to_thread(said, port, trusting(ROOT, as_of_python_3_13())) == b"hello"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_a_server_with_old_tls_alone_is_not_spoken_with() -> None:
    server = serving(OLD_FORM)
    server.minimum_version = ssl.TLSVersion.TLSv1
    server.maximum_version = ssl.TLSVersion.TLSv1_1
    async with greeting(server) as port:
        with pytest.raises(ssl.SSLError):
            await asyncio.to_thread(said, port, trusting(ROOT, as_of_debian()))


def test_no_other_file_makes_contexts_by_itself() -> None:
    """But of what reads certificates and speaks with nobody."""
    own = {
        at(path).partition(":")[0]
        for path in PRODUCT
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS
        if not _passed_on(path, node)
    }

    assert own == {"probe/net/tls/rustls.py", "shared/kinds/tls.py", "shared/trust.py"}


def _passed_on(path: Path, made: ast.Call) -> bool:
    """Is it made as the argument of `trust.alike`?"""
    return any(
        isinstance(node, ast.Call) and made in node.args and ast.unparse(node.func) == "trust.alike"
        for node in ast.walk(tree(path))
    )
