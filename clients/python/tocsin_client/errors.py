"""What the API refuses."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import httpx

from tocsin_client.generated.errors import UnexpectedStatus
from tocsin_client.generated.types import Response

__all__ = ["ApiError", "UnexpectedStatus", "parsed", "refused"]


class ApiError(Exception):
    """The API refused a request: *status*, its *message*, and *details* by field where the request is wrong.

    *request_id* finds the request in the service's log.
    """

    def __init__(self, status: int, message: str, details: Mapping[str, str], request_id: str | None) -> None:
        listed = "; ".join(f"{name}: {fault}" for name, fault in details.items())
        super().__init__(f"{status}: {message}" + (f" ({listed})" if listed else ""))
        self.status = status
        self.message = message
        self.details = dict(details)
        self.request_id = request_id


def parsed(response: Response[Any]) -> Any:
    """Return the answer of a success. Raises ApiError."""
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        raise refused(
            response.status_code, httpx.Response(response.status_code, content=response.content), response
        )
    return response.parsed


def refused(status: int, answer: httpx.Response, response: Response[Any] | httpx.Response) -> ApiError:
    """Return the error of an answer that is no success."""
    try:
        body = answer.json()
    except ValueError:
        body = {}
    known: dict[str, Any] = body if isinstance(body, dict) else {}
    details = known.get("details")
    return ApiError(
        int(status),
        str(known.get("message", HTTPStatus(status).phrase)),
        details if isinstance(details, dict) else {},
        response.headers.get("X-Request-Id"),
    )
