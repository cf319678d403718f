"""The TypeScript library: compiled strictly, and run by Node.js against a real server."""

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from standardwebhooks.webhooks import Webhook

from shared.clock import utc_now
from tests.clients.conftest import ROOT, built
from tests.http.client import Api
from tests.monitors.monitors import make

pytestmark = [pytest.mark.slow, pytest.mark.shares_setup]

TOOLS: Final = ROOT / ".tools" / "node_modules"
EXAMPLE: Final = re.compile("```ts\\n(.+?)```", re.DOTALL)
WRONG: Final = """
import { createTocsin } from "./index.js";

export async function use(): Promise<number | undefined> {
  const tocsin = createTocsin({ url: "http://127.0.0.1:9", token: "x" });
  // @ts-expect-error a monitor is never asleep
  for await (const monitor of tocsin.iterate("/v1/monitors", { status: "asleep" })) console.log(monitor.name);
  // @ts-expect-error this is no list
  for await (const item of tocsin.iterate("/v1/me")) console.log(item);
  for await (const event of tocsin.events({ kinds: ["monitor.down"] })) {
    // The type follows from the kind.
    if (event.kind === "monitor.down") return event.payload.incident.consecutiveFailures;
  }
  return undefined;
}
"""
USE: Final = """
import { createTocsin, isGenuine, TocsinError } from "./dist/index.js";

const [url, token, webhook] = process.argv.slice(2);
const tocsin = createTocsin({ url, token });
const answer = {};
const body = { name: "from node", type: "tcp", config: { host: "db.example.com", port: 5432 } };
const made = await tocsin.POST("/v1/monitors", { body });
const params = { path: { id: made.data.id } };
answer.port = (await tocsin.GET("/v1/monitors/{id}", { params })).data.config.port;
answer.names = [];
for await (const monitor of tocsin.iterate("/v1/monitors")) answer.names.push(monitor.name);
answer.deleted = (await tocsin.DELETE("/v1/monitors/{id}", { params })).response.status;
answer.gone = (await tocsin.GET("/v1/monitors/{id}", { params })).error.message;

const ended = new AbortController();
const raise = () => tocsin.POST("/v1/incidents", { body: { title: "Slow", severity: "low" } });
const timer = setInterval(raise, 200);
for await (const event of tocsin.events({ kinds: ["incident.created"], signal: ended.signal })) {
  clearInterval(timer);
  answer.event = [event.kind, event.payload.incident.title];
  await tocsin.POST("/v1/incidents", { body: { title: "The last", severity: "low" } });
  for await (const later of tocsin.events({ after: event.id, signal: ended.signal })) {
    if (later.payload.incident?.title === "The last") ended.abort();
  }
}
try {
  for await (const event of createTocsin({ url, token: "no-token" }).events()) console.log(event);
} catch (error) {
  answer.refused = error instanceof TocsinError && error.status;
}
const { secret, headers, body: text } = JSON.parse(webhook);
answer.genuine = [
  await isGenuine(secret, headers, text),
  await isGenuine(secret, headers, text + " "),
  await isGenuine("another", headers, text),
  await isGenuine(secret, { ...headers, "webhook-timestamp": "1" }, text),
];
console.log(JSON.stringify(answer));
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as `make clients` builds it, compiled."""
    if not (TOOLS / ".bin" / "openapi-typescript").exists():
        pytest.skip("tools for OpenAPI: `make tools` fetches them")
    folder = built(tmp_path_factory.mktemp("typescript"), "typescript")
    (folder / "node_modules").symlink_to(TOOLS)
    (folder / "src" / "wrong.ts").write_text(WRONG)
    [example] = EXAMPLE.findall((folder / "README.md").read_text())
    example = example.replace('"tocsin-client"', '"./index.js"')
    (folder / "src" / "example.ts").write_text(f'const token = "";\n{example}\nconsole.log(data, error);\n')
    done = subprocess.run(
        [str(TOOLS / ".bin" / "tsc"), "--project", "tsconfig.json"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


async def test_it_runs_against_a_real_server(package: Path, team: Api) -> None:
    for number in range(101):
        await make(team, name=f"shop {number}")
    (package / "use.mjs").write_text(USE)

    answer = await node(package, "use.mjs", f"{team.url}/v1/", str(team.token), json.dumps(signed_webhook()))

    assert answer["port"] == 5432
    assert len(set(answer["names"])) == 102
    assert (answer["deleted"], answer["gone"], answer["refused"]) == (204, "Monitor not found", 401)
    assert answer["event"] == ["incident.created", "Slow"]
    assert answer["genuine"] == [True, False, False, False]


def test_its_package_names_the_version_of_the_product(package: Path) -> None:
    described = json.loads((package / "package.json").read_text())

    assert described["version"] != "0.0.0"
    assert (package / described["main"]).exists()
    assert (package / described["types"]).exists()
    assert (package / "dist" / "schema.d.ts").exists()


def signed_webhook() -> dict[str, Any]:
    """A webhook as a sender by the standard signs it."""
    secret, body, now = "whsec_" + "c2VjcmV0" * 4, '{"event": "test"}', utc_now()
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign("evt_1", now, body),
    }
    return {"secret": secret, "headers": headers, "body": body}


async def node(folder: Path, *arguments: str) -> Any:
    process = await asyncio.create_subprocess_exec(
        "node", *arguments, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, errors.decode()
    return json.loads(out)
