"""Leads from a port in this network namespace to a server's Unix socket: ``python -m ... ADDRESS SOCKET``."""

import asyncio
import sys

from tests.e2e.cable import Cable
from tests.streams import stream_server


async def main(address: str, socket: str) -> None:
    """Print the port, and serve until the process is killed."""
    async with stream_server(Cable(socket).carry, address) as port:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
