"""Writes an operation of the OpenAPI document as a curl command."""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any


def command(server: str, method: str, path: str, operation: Mapping[str, Any]) -> str:
    """Return the command, which takes the token from the shell's variable ``TOCSIN_TOKEN``.

    Parameters in the path stand as words in capitals, such as ``MONITOR_ID``.
    """
    lines = [f"curl{_options(method, path)} {shlex.quote(server + _filled(path))}"]
    if path.startswith("/v1/ingest/"):
        lines += ['-H "Authorization: Bearer $MONITOR_TOKEN"', "--data-binary @metrics.bin"]
    elif operation.get("security") != []:
        lines += ['-H "Authorization: Bearer $TOCSIN_TOKEN"']
    body = operation.get("requestBody")
    if body is not None:
        example = json.dumps(body["content"]["application/json"]["example"], indent=2, ensure_ascii=False)
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(example)}"]
    return " \\\n  ".join(lines)


def _options(method: str, path: str) -> str:
    follows = " -N" if path == "/v1/events" else ""
    return follows if method == "get" else f"{follows} -X {method.upper()}"


def _filled(path: str) -> str:
    """Return the path with a word for each parameter; ``{id}`` is named by the collection before it."""
    parts = path.split("/")
    return "/".join(
        _word(part[1:-1], parts[at - 1]) if part.startswith("{") else part for at, part in enumerate(parts)
    )


def _word(name: str, collection: str) -> str:
    if name == "id":
        name = f"{collection.removesuffix('s')}_id"
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).replace("-", "_").upper()
