"""Tools for OpenAPI find no fault in the document, and TypeScript takes what is made of it."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.http.described import described

pytestmark = pytest.mark.slow

TOOLS: Final = Path(__file__).parents[3] / ".tools" / "node_modules"
# There is no licence yet, and nobody to be named as a contact; the server of tests is example.com.
REDOCLY: Final = "extends: [recommended]\nrules: {info-license: off, no-server-example.com: off}\n"
SPECTRAL: Final = 'extends: ["spectral:oas"]\nrules: {info-contact: off}\n'
USE: Final = """
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./schema";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1:9" });
type Down = webhooks["monitor.down"]["post"]["requestBody"]["content"]["application/json"];

export async function use(): Promise<string | number | undefined> {
  const body: components["schemas"]["CreateMonitorRequest"] = {
    name: "shop",
    type: "tcp",
    config: { host: "db.example.com", port: 5432 },
  };
  // @ts-expect-error a TCP monitor has no URL
  const wrong: components["schemas"]["TcpMonitorRequest"] = { name: "a", type: "tcp", config: { url: "b" } };
  const made = await client.POST("/v1/monitors", { body: body ?? wrong });
  if (made.error !== undefined) return made.error.message;
  const { data } = await client.GET("/v1/monitors/{id}", { params: { path: { id: made.data.id } } });
  await client.DELETE("/v1/monitors/{id}", { params: { path: { id: made.data.id } } });
  return data?.type === "tcp" ? data.config.port : data?.name;
}

export function heard(event: Down): string {
  return event.incident.lastError;
}
"""
OPTIONS: Final = {
    "compilerOptions": {
        "strict": True,
        "noEmit": True,
        "skipLibCheck": False,
        "module": "ESNext",
        "moduleResolution": "bundler",
        "target": "ES2022",
        "lib": ["ES2022", "DOM", "DOM.Iterable"],
        "types": [],
    },
    "files": ["use.ts"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place with the document, from which the tools are reached."""
    if not (TOOLS / ".bin" / "redocly").exists():
        pytest.skip("tools for OpenAPI: `make tools` fetches them")
    (tmp_path / "node_modules").symlink_to(TOOLS)
    (tmp_path / "openapi.json").write_text(json.dumps(described()), encoding="utf-8")
    return tmp_path


def run(folder: Path, tool: str, *arguments: str) -> str:
    """What the tool printed. It must have ended well."""
    done = subprocess.run(
        [str(TOOLS / ".bin" / tool), *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_redocly_finds_no_fault(folder: Path) -> None:
    (folder / "redocly.yaml").write_text(REDOCLY, encoding="utf-8")

    text = run(folder, "redocly", "lint", "--format=json", "openapi.json")

    assert json.loads(text[text.index("{") :])["totals"] == {"errors": 0, "warnings": 0, "ignored": 0}


def test_spectral_finds_no_fault(folder: Path) -> None:
    (folder / ".spectral.yaml").write_text(SPECTRAL, encoding="utf-8")

    run(folder, "spectral", "lint", "--fail-severity=hint", "openapi.json")


def test_typescript_takes_the_types_that_are_made_of_it(folder: Path) -> None:
    (folder / "use.ts").write_text(USE, encoding="utf-8")
    (folder / "tsconfig.json").write_text(json.dumps(OPTIONS), encoding="utf-8")

    run(folder, "openapi-typescript", "openapi.json", "--default-non-nullable=false", "-o", "schema.d.ts")

    run(folder, "tsc", "--project", ".")
