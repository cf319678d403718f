"""The OpenAPI document as the routes make it, without a server."""

import json
from functools import cache
from typing import Any

from collector.http.auth import NEEDS
from collector.openapi import build
from collector.routes import register
from tests.http.fixtures import PUBLIC_URL


class App(dict[Any, Any]):
    """As much of an application as routes are put into."""

    @property
    def router(self) -> "App":
        return self

    def add_route(self, *_: object) -> None: ...


def described() -> dict[str, Any]:
    """The document: a copy of its own for each caller."""
    document: dict[str, Any] = json.loads(_text())
    return document


@cache
def _text() -> str:
    # It takes most of a second to make, and is the same for every test.
    app = App()
    register(app)  # type: ignore[arg-type]
    return json.dumps(build(app[NEEDS], PUBLIC_URL))
