"""The OpenAPI document as the routes make it, without a server."""

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
    """The document."""
    app = App()
    register(app)  # type: ignore[arg-type]
    return build(app[NEEDS], PUBLIC_URL)
