"""Client of the Tocsin API: `Tocsin` blocks, `AsyncTocsin` is awaited, `models` has bodies and answers."""

from tocsin_client import models, webhooks
from tocsin_client.client import AsyncTocsin, Tocsin
from tocsin_client.errors import ApiError
from tocsin_client.events import Event
from tocsin_client.generated.types import UNSET, Unset
from tocsin_client.version import VERSION

__all__ = ["UNSET", "VERSION", "ApiError", "AsyncTocsin", "Event", "Tocsin", "Unset", "models", "webhooks"]
