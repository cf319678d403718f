"""Checks a name while /etc/hosts changes: run in a mount namespace of its own, with a scratch file's path."""

import asyncio
import subprocess
import sys
from pathlib import Path

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds.tcp import Tcp

HOST = "api.example.com"


async def main(path: Path) -> None:
    """Write what becomes of a check for each content that the file has."""
    path.write_text(f"127.0.0.1 {HOST}\n")
    subprocess.run(["mount", "--bind", str(path), "/etc/hosts"], check=True)
    net = Net(nameservers=["127.0.0.1:1"])
    for content in (f"127.0.0.1 {HOST}\n", f"127.0.0.2 other {HOST}\n", "127.0.0.2 other\n"):
        path.write_text(content)
        await asyncio.sleep(1.2)
        ran = await run(CHECKS["tcp"](Tcp(host=HOST, port=1)), net, 2.0)
        sys.stdout.write(f"{ran.outcome.error}\n")
    net.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
