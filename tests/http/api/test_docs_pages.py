"""The API's documentation for people: pages by subject, a search, and commands and code that work."""

import asyncio
import base64
import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from collector.http.openapi import curl
from collector.notifications.core import signature
from tests.http.client import Answer, Api
from tests.http.described import described
from tests.http.fixtures import PUBLIC_URL

LARGEST = 150_000
CODE = files("collector.http.openapi")
BODY = b'{"event":"monitor.down","name":"caf\xc3\xa9"}'


async def get(api: Api, path: str = "/v1/docs") -> Answer:
    return await api.with_token(None).get(path)


def subjects(index: Answer) -> set[str]:
    return set(re.findall(r'href="(/v1/docs\?subject=[\w-]+)"', index.body.decode()))


def called() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described()["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


async def test_while_it_is_built_for_the_first_who_asks_others_are_answered(api: Api) -> None:
    others = 0
    building = asyncio.create_task(get(api))
    while not building.done():
        assert (await api.get("/healthz")).status == 200
        others += 1

    assert (await building).status == 200
    assert others > 5


async def test_every_operation_has_a_title_and_a_curl_command_on_a_page_of_bounded_size(api: Api) -> None:
    index = await get(api)
    pages = [await get(api, path) for path in sorted(subjects(index))]

    assert len(pages) >= 12
    assert max(len(page.body) for page in [index, *pages]) <= LARGEST
    text = "".join(page.body.decode() for page in pages)
    for method, path, operation in called():
        if method != "patch":
            shown = curl.command(PUBLIC_URL, method, path, operation)
            assert shown in unescape(text), path
            assert index.body.decode().count(f'#{operation["operationId"]}"') == 1


async def test_no_subject_that_does_not_exist_has_a_page(api: Api) -> None:
    assert (await get(api, "/v1/docs?subject=nonsense")).status == 404


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("pause+a+monitor", {"pauseMonitor"}),
        ("HEARTBEATS+rotate", {"rotateMonitorKey"}),
        ("nonsense", set()),
        ("%3Cscript%3E", set()),
    ],
)
async def test_the_search_needs_no_script(api: Api, query: str, found: set[str]) -> None:
    text = (await get(api, f"/v1/docs?q={query}")).body.decode()

    assert set(re.findall(r'<li id="(\w+)"', text)) == found
    assert ("No operation matches." in text) is (not found)
    assert "<script>" not in text


def test_each_command_sends_what_its_operation_takes() -> None:
    document = described()
    for method, path, operation in called():
        words = shlex.split(curl.command(PUBLIC_URL, method, path, operation))
        url = next(word for word in words if word.startswith(PUBLIC_URL)).removeprefix(PUBLIC_URL)

        assert words[0] == "curl"
        assert re.fullmatch(re.sub(r"\{\w+\}", "[A-Z_]+", path), url), path
        sends = words[words.index("-X") + 1] if "-X" in words else "GET"
        assert sends == method.upper()
        assert ("Authorization: Bearer $TOCSIN_TOKEN" in words) is (operation.get("security") != [])
        if "-d" in words:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            whole = {**schema, "components": document["components"]}
            Draft202012Validator(whole).validate(json.loads(words[words.index("-d") + 1]))


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
async def test_a_command_of_the_page_works_as_it_is_copied(team: Api) -> None:
    text = (await get(team, "/v1/docs?subject=monitors")).body.decode()
    shown = [
        unescape(code) for code in re.findall(r'<pre tabindex="0">(curl -X POST.*?)</pre>', text, re.DOTALL)
    ]
    command = next(code for code in shown if f"{PUBLIC_URL}/v1/monitors \\" in code)

    answer = await ran("sh", "-c", command.replace(PUBLIC_URL, team.url), TOCSIN_TOKEN=str(team.token))

    assert json.loads(answer)["id"].startswith("mon_")


async def ran(*command: str, **variables: str) -> str:
    """What the command printed, while the server of the test goes on."""
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **variables}, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    return printed.decode()


PYTHON = """
import json, sys
exec(open(sys.argv[1]).read())
case = json.load(sys.stdin)
print(is_genuine(case["secret"], case["headers"], case["body"].encode()))
"""
NODE = """
import { readFileSync } from "node:fs";
const { isGenuine } = await import(process.argv[1]);
const { secret, headers, body } = JSON.parse(readFileSync(0, "utf8"));
console.log(isGenuine(secret, headers, Buffer.from(body)) ? "True" : "False");
"""
GO = """
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	var shown struct {
		Secret, Body string
		Headers map[string]string
	}
	if err := json.NewDecoder(os.Stdin).Decode(&shown); err != nil {
		panic(err)
	}
	headers := http.Header{}
	for name, value := range shown.Headers {
		headers.Set(name, value)
	}
	if IsGenuine(shown.Secret, headers, []byte(shown.Body), 5*time.Minute) {
		fmt.Println("True")
	}
}
"""
RUNS = {
    "python": [sys.executable, "-c", PYTHON, str(CODE.joinpath("verify.py"))],
    "node": ["node", "--input-type=module", "-e", NODE, str(CODE.joinpath("verify.mjs"))],
}
PLAIN, STANDARD = "s3cret", "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a program of the documentation's Go code, built here."""
    if shutil.which("go") is None:
        pytest.skip("needs go")
    folder = tmp_path_factory.mktemp("go")
    code = Path(str(CODE.joinpath("verify.go"))).read_text().replace("package webhook", "package main", 1)
    (folder / "verify.go").write_text(code)
    (folder / "main.go").write_text(GO)
    environment = {**os.environ, "GOCACHE": str(folder / "cache"), "GO111MODULE": "off", "CGO_ENABLED": "0"}
    built = folder / "verify"
    subprocess.run(
        ["go", "build", "-o", built, "verify.go", "main.go"], cwd=folder, env=environment, check=True
    )
    return str(built)


def judged(command: list[str], secret: str, headers: dict[str, str], body: bytes) -> bool:
    """What the code of the documentation says of such a request."""
    case = json.dumps({"secret": secret, "headers": headers, "body": body.decode()})
    done = subprocess.run(command, input=case, text=True, capture_output=True, check=True)
    return done.stdout.strip() == "True"


def signed(*keys: str, at: int) -> dict[str, str]:
    signatures = " ".join(signature.standard(key, "evt_1", at, BODY) for key in keys)
    return {"webhook-id": "evt_1", "webhook-timestamp": str(at), "webhook-signature": signatures}


@pytest.mark.parametrize("language", ["go", *sorted(RUNS)])
def test_the_code_that_is_shown_takes_our_signatures_and_no_others(
    language: str, request: pytest.FixtureRequest
) -> None:
    command = [request.getfixturevalue("go")] if language == "go" else RUNS[language]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {language}")
    now = int(time.time())
    for key in (PLAIN, STANDARD):
        good = signed(key, at=now)
        assert judged(command, key, good, BODY)
        assert judged(command, key, signed("new key", key, at=now), BODY)
        assert not judged(command, key, good, BODY + b" ")
        assert not judged(command, key, signed("other", at=now), BODY)
        assert not judged(command, key, {**good, "webhook-id": "evt_2"}, BODY)
        assert not judged(command, key, signed(key, at=now - 3600), BODY)
        assert not judged(command, key, {}, BODY)


async def test_the_introduction_shows_the_code_that_is_tested(api: Api) -> None:
    text = unescape((await get(api)).body.decode())

    for name in ("verify.py", "verify.mjs", "verify.go"):
        assert Path(str(CODE.joinpath(name))).read_text().rstrip() in text
