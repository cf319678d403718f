"""Copies of the template database, made ahead and dropped behind the tests: neither is waited for."""

import asyncio
import queue
import threading
from typing import Final
from uuid import uuid4

import asyncpg


class Clones:
    """A thread with two connections as superuser: on one it makes copies, on the other it drops them."""

    AHEAD: Final = 2
    PATIENCE_S: Final = 60.0

    def __init__(self, server_url: str, template: str) -> None:
        self.server_url = server_url
        self._template = template
        self._ready: queue.Queue[str | BaseException] = queue.Queue(self.AHEAD)
        self._done: queue.Queue[str | None] = queue.Queue()
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(
                target=asyncio.run, args=[work()], name=f"clones of the tests {turn}", daemon=True
            )
            for turn, work in enumerate((self._make, self._drop))
        ]
        for thread in self._threads:
            thread.start()

    def take(self) -> str:
        """The name of a database that nobody else has. Raises what PostgreSQL said where none can be made."""
        found = self._ready.get(timeout=self.PATIENCE_S)
        if isinstance(found, BaseException):
            raise found
        return found

    def drop(self, name: str) -> None:
        """Some time soon, whoever is still connected."""
        self._done.put(name)

    def close(self) -> None:
        """Leave none on the server."""
        self._closing.set()
        self._empty()
        maker, dropper = self._threads
        maker.join()
        self._empty()
        self._done.put(None)
        dropper.join()

    def _empty(self) -> None:
        while True:
            try:
                left = self._ready.get_nowait()
            except queue.Empty:
                return
            if isinstance(left, str):
                self._done.put(left)

    async def _make(self) -> None:
        try:
            admin = await asyncpg.connect(self.server_url)
            while not self._closing.is_set():
                name = f"test_{uuid4().hex}"
                await admin.execute(f"CREATE DATABASE {name} TEMPLATE {self._template} STRATEGY file_copy")
                self._ready.put(name)
            await admin.close()
        except (OSError, asyncpg.PostgresError) as error:
            self._ready.put(error)

    async def _drop(self) -> None:
        admin = await asyncpg.connect(self.server_url)
        while (name := self._done.get()) is not None:
            await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.close()
