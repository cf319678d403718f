"""Builds the client libraries from the OpenAPI document: what is generated is not kept, and never edited.

`python clients/build.py python FOLDER` writes the sources of the package tocsin-client into FOLDER, and
`typescript` those of its namesake for npm. Each is the thin part that stands here, with what follows from the
document beside it.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent
PUBLIC_URL: Final = "https://tocsin.example.com"
# Has methods of its own.
STREAM: Final = "stream_events"
# What is no text is read as bytes, whatever it is.
GENERATOR: Final = """
post_hooks: []
literal_enums: true
content_type_overrides:
  application/pdf: application/octet-stream
"""
HEAD: Final = '''"""Every operation of the API. Generated from its description: do not edit."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Iterator
from io import BytesIO
from typing import Any, Literal

from tocsin_client.errors import parsed
from tocsin_client.generated import models
from tocsin_client.generated.client import AuthenticatedClient
from tocsin_client.generated.models import *  # noqa: F403
from tocsin_client.generated.types import UNSET, File, Unset
'''


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation, as the generated function has it."""

    name: str
    annotation: str
    default: str | None
    by_name: bool

    def declared(self) -> str:
        return f"{self.name}: {self.annotation}" + (f" = {self.default}" if self.default else "")

    def passed(self) -> str:
        return f"{self.name}={self.name}"


@dataclass(frozen=True)
class ClientMethod:
    """An operation; *item*: what its list is of, if it is a list by pages."""

    name: str
    tag: str
    text: str
    parameters: tuple[Parameter, ...]
    answer: str
    raw: bool
    item: str | None


def main(language: str, folder: str) -> None:
    """Write the package of a language into *folder*."""
    target = Path(folder).resolve()
    shutil.copytree(
        HERE / language,
        target,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("node_modules", "__pycache__"),
    )
    document = described()
    (target / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    {"python": python, "typescript": typescript}[language](target, document)


def described() -> dict[str, Any]:
    """Return the OpenAPI document, as the service serves it."""
    from aiohttp import web  # noqa: PLC0415 - after the path is set

    from collector.http.auth import NEEDS  # noqa: PLC0415
    from collector.openapi import build  # noqa: PLC0415
    from collector.routes import register  # noqa: PLC0415

    app = web.Application()
    register(app)
    document: dict[str, Any] = json.loads(json.dumps(build(app[NEEDS], PUBLIC_URL)))
    return document


def python(target: Path, document: dict[str, Any]) -> None:
    """Generate the models and the operations of the Python package."""
    package = target / "tocsin_client"
    (target / "generator.yaml").write_text(GENERATOR)
    command = ["-m", "openapi_python_client", "generate", "--path", "openapi.json", "--meta", "none"]
    more = ["--config", "generator.yaml", "--overwrite", "--fail-on-warning"]
    output = ["--output-path", str(package / "generated")]
    subprocess.run([sys.executable, *command, *more, *output], cwd=target, check=True)  # noqa: S603
    (package / "operations.py").write_text(
        operations_module(package / "generated", document), encoding="utf-8"
    )
    version = document["info"]["version"]
    (package / "version.py").write_text(f'"""The version of the API."""\n\nVERSION = "{version}"\n')
    shutil.copy(ROOT / "collector" / "http" / "openapi" / "verify.py", package / "webhooks.py")
    for left in ("openapi.json", "generator.yaml"):
        (target / left).unlink()


def operations_module(generated: Path, document: dict[str, Any]) -> str:
    """Return a module with a method for each operation, blocking and asynchronous."""
    raw = set(_without_json(document))
    known = [
        _operation(file, generated, raw)
        for file in sorted(generated.glob("api/*/*.py"))
        if file.stem not in {"__init__", STREAM}
    ]
    imports = [
        f"from tocsin_client.generated.api.{each.tag} import {each.name} as _{each.name}" for each in known
    ]
    kinds = {
        kind: _model(hook["post"]["requestBody"]["content"]["application/json"]["schema"])
        for kind, hook in document["webhooks"].items()
    }
    events = [f'    "{kind}": models.{model},' for kind, model in kinds.items()]
    return "\n".join(
        [
            HEAD,
            *imports,
            "",
            "# The class of the payload of each kind of event.",
            "EVENTS: dict[str, Any] = {",
            *events,
            "}",
            "",
            *_class("Operations", known, asynchronous=False),
            "",
            *_class("AsyncOperations", known, asynchronous=True),
            "",
        ]
    )


def _without_json(document: dict[str, Any]) -> Iterator[str]:
    """Yield the names of operations whose success has a body that is no JSON."""
    for methods in document["paths"].values():
        for operation in methods.values():
            good = [content for status, content in operation["responses"].items() if status.startswith("2")]
            if any("content" in each and "application/json" not in each["content"] for each in good):
                yield _snake(operation["operationId"])


def _operation(file: Path, generated: Path, raw: set[str]) -> ClientMethod:
    functions = {
        node.name: node for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)
    }
    function = functions["sync_detailed"]
    parts = _parts(function.returns)
    kept = [part for part in parts if part not in {"Error", "Any"}]
    answer = "bytes" if file.stem in raw else " | ".join(kept) or "None"
    parameters = tuple(_parameters(function))
    paged = {"page", "limit"} <= {each.name for each in parameters}
    return ClientMethod(
        file.stem,
        file.parent.name,
        (ast.get_docstring(function) or "").split("\n\nArgs:")[0].strip(),
        parameters,
        answer,
        raw=file.stem in raw,
        item=_item(generated, answer) if paged else None,
    )


def _parts(annotation: ast.expr | None) -> list[str]:
    """Return the members of the union in ``Response[A | B]``."""
    assert isinstance(annotation, ast.Subscript)  # noqa: S101 - as the generator writes it
    return [part.strip() for part in ast.unparse(annotation.slice).split("|")]


def _parameters(function: ast.FunctionDef) -> Iterator[Parameter]:
    arguments = function.args
    for argument in arguments.args:
        yield Parameter(argument.arg, _annotation(argument), None, by_name=False)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg != "client":
            # The body of a change is its only argument beside the id: by place, too.
            text = None if default is None else ast.unparse(default)
            yield Parameter(argument.arg, _annotation(argument), text, by_name=argument.arg != "body")


def _annotation(argument: ast.arg) -> str:
    assert argument.annotation is not None  # noqa: S101 - as the generator writes it
    return ast.unparse(argument.annotation)


def _item(generated: Path, answer: str) -> str | None:
    """Return the class of the items in ``data`` of a list."""
    for node in ast.walk(ast.parse((generated / "models" / f"{_snake(answer)}.py").read_text())):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "data":
            match = re.fullmatch(r"list\[(.+)\]", ast.unparse(node.annotation))
            return match[1] if match else None
    return None


def _class(name: str, known: list[ClientMethod], *, asynchronous: bool) -> Iterator[str]:
    how = "asynchronous" if asynchronous else "blocking"
    yield f"class {name}:"
    yield f'    """The operations of the API, {how}. Each raises ApiError where the service refuses."""'
    yield ""
    yield "    def __init__(self, client: AuthenticatedClient) -> None:"
    yield "        self._client = client"
    for operation in known:
        yield ""
        yield from _method(operation, asynchronous=asynchronous)
        if operation.item is not None:
            yield ""
            yield from _iterator(operation, asynchronous=asynchronous)


def _method(operation: ClientMethod, *, asynchronous: bool) -> Iterator[str]:
    define, call = ("async def", "await ") if asynchronous else ("def", "")
    function = "asyncio_detailed" if asynchronous else "sync_detailed"
    passed = ", ".join([*(each.passed() for each in operation.parameters), "client=self._client"])
    yield f"    {define} {operation.name}({_declared(operation.parameters)}) -> {operation.answer}:"
    yield from _docstring(operation.text)
    yield f"        response = {call}_{operation.name}.{function}({passed})"
    if operation.raw:
        yield "        parsed(response)"
        yield "        return response.content"
    elif operation.answer == "None":
        yield "        parsed(response)"
    else:
        yield "        return parsed(response)"


def _iterator(operation: ClientMethod, *, asynchronous: bool) -> Iterator[str]:
    define, call, kind = ("async def", "await ", "AsyncIterator") if asynchronous else ("def", "", "Iterator")
    parameters = tuple(each for each in operation.parameters if each.name not in {"page", "limit"})
    name = operation.name.replace("list_", "iterate_", 1)
    passed = ", ".join([*(each.passed() for each in parameters), "page=page", "limit=100"])
    yield f"    {define} {name}({_declared(parameters)}) -> {kind}[{operation.item}]:"
    yield from _docstring(f"{operation.text.splitlines()[0]}: all of them, page by page.")
    yield "        page = 1"
    yield "        while True:"
    yield f"            found = {call}self.{operation.name}({passed})"
    yield "            for item in found.data:"
    yield "                yield item"
    yield "            if len(found.data) < 100:"
    yield "                return"
    yield "            page += 1"


def _declared(parameters: tuple[Parameter, ...]) -> str:
    by_place = [each.declared() for each in parameters if not each.by_name]
    by_name = [each.declared() for each in parameters if each.by_name]
    return ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])


def _docstring(text: str) -> Iterator[str]:
    safe = re.sub(r"\s+\n", "\n\n", text.replace("\\", "\\\\").replace('"""', "'''")).strip()
    lines = [line.strip() for line in safe.splitlines()]
    yield f'        """{lines[0]}'
    yield from (f"        {line}".rstrip() for line in lines[1:])
    yield '        """'


def _model(schema: dict[str, Any]) -> str:
    """Return the name of a model: ``MonitorDownEvent``."""
    return str(schema["$ref"]).rpartition("/")[2]


def _snake(name: str) -> str:
    """``listMonitors`` -> ``list_monitors``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def typescript(target: Path, document: dict[str, Any]) -> None:
    """Generate the types of the TypeScript package, by openapi-typescript of `make tools`."""
    tool = ROOT / ".tools" / "node_modules" / ".bin" / "openapi-typescript"
    command = [str(tool), "openapi.json", "--default-non-nullable=false", "-o", "src/schema.ts"]
    subprocess.run(command, cwd=target, check=True)  # noqa: S603
    package = json.loads((target / "package.json").read_text())
    package["version"] = document["info"]["version"]
    (target / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    (target / "openapi.json").unlink()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main(*sys.argv[1:])
