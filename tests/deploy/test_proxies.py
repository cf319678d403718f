"""The example proxies before two real collectors: nginx for people and probes, Caddy for people.

Either collector may go: the proxy sends requests, and nginx probes, to the other one.
"""

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import trustme

from tests.e2e.fleet import Fleet, Part, fleet
from tests.e2e.product import eventually
from tests.ports import free_port
from tests.receiver import answer, receiving

pytestmark = [pytest.mark.database, pytest.mark.slow, pytest.mark.timeout(240)]

PROXY = Path(__file__).parents[2] / "deploy" / "proxy"
MODULE = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
HOST = "tocsin.example.com"
VISITOR = "203.0.113.9"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@asynccontextmanager
async def two_collectors(database_url: str, directory: Path, **settings: str) -> AsyncIterator[Fleet]:
    async with fleet(database_url, directory) as made:
        for _ in range(2):
            await made.collector(
                TRUSTED_PROXIES="127.0.0.0/8", PLAN="enterprise", RATE_PER_MINUTE="600000",
                PUBLIC_URL=f"https://{HOST}", **settings,
            )  # fmt: skip
        yield made


@contextmanager
def serving(command: list[str], environment: Mapping[str, str] | None = None) -> Iterator[None]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=15)


def nginx_configuration(made: Fleet, authority: trustme.CA, folder: Path, ports: Mapping[str, int]) -> Path:
    """The example with this test's ports, addresses and certificate."""
    certificate = authority.issue_cert(HOST)
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "fullchain.pem")
    places = {
        "modules/ngx_stream_module.so": str(MODULE),
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/": f"{folder}/",
        "/etc/ssl/tocsin/": f"{folder}/",
        "user www-data;": "user root;",
        "listen 80;": f"listen 127.0.0.1:{ports['redirect']};",
        "listen 443 ssl": f"listen 127.0.0.1:{ports['https']} ssl",
        "listen 7070;": f"listen 127.0.0.1:{ports['grpc']};",
    }
    for number, collector in enumerate(made.collectors, 11):
        places[f"192.0.2.{number}:8080"] = collector.settings["HTTP_LISTEN"]
        places[f"192.0.2.{number}:7070"] = collector.settings["GRPC_LISTEN"]
    text = (PROXY / "nginx.conf").read_text()
    for written, real in places.items():
        assert written in text
        text = text.replace(written, real)
    (folder / "nginx.conf").write_text(text)
    return folder / "nginx.conf"


class Visitor:
    """Calls the proxy as the host's name resolves to it."""

    def __init__(self, made: Fleet, url: str, authority: trustme.CA | None) -> None:
        self._made = made
        self._url = url
        self._trust: Any = True
        if authority is not None:
            self._trust = ssl.create_default_context()
            authority.configure_trust(self._trust)

    async def get(self, path: str) -> tuple[int, Any]:
        """The status and the JSON, None if it is something else; status 0 without a connection."""
        headers = {"Authorization": f"Bearer {self._made.token}", "Host": HOST, "X-Forwarded-For": VISITOR}
        with suppress(aiohttp.ClientError):
            async with self._made.session.get(
                self._url + path, headers=headers, ssl=self._trust, server_hostname=HOST,
                allow_redirects=False, timeout=aiohttp.ClientTimeout(15),
            ) as response:  # fmt: skip
                json = response.content_type == "application/json"
                return response.status, await response.json() if json else None
        return 0, None

    async def serves_with_either_alone(self) -> None:
        """While one of the two collectors is away, and then the other, each request is answered."""
        for away in self._made.collectors:
            assert away.stop() == 0
            for _ in range(10):
                assert (await self.get("/v1/monitors"))[0] == 200
            away.start()
            await self._made.ready(away)
            await eventually(partial(self._is_served_by, away))

    async def _is_served_by(self, collector: Part) -> bool:
        """Whether the proxy sends requests to this collector, which was started a moment ago."""
        assert (await self.get("/v1/monitors"))[0] == 200
        url = f"http://{collector.settings['HTTP_LISTEN']}/metrics"
        async with self._made.session.get(url) as response:
            return 'tocsin_http_requests_total{route="/v1/monitors",status="200"}' in await response.text()


needs_nginx = pytest.mark.skipif(
    shutil.which("nginx") is None or not MODULE.exists(), reason="needs nginx and libnginx-mod-stream"
)
needs_caddy = pytest.mark.skipif(shutil.which("caddy") is None, reason="needs caddy")


@needs_nginx
async def test_nginx_passes_people_and_probes_on(
    database_url: str, tmp_path: Path, authority: trustme.CA
) -> None:
    ports = {name: free_port() for name in ("redirect", "https", "grpc")}
    async with receiving(always=answer()) as target, two_collectors(database_url, tmp_path) as made:
        file = nginx_configuration(made, authority, tmp_path, ports)
        tested = subprocess.run(
            ["nginx", "-t", "-q", "-c", file], capture_output=True, text=True, check=False
        )
        assert (tested.returncode, tested.stderr) == (0, "")
        with serving(["nginx", "-c", str(file), "-g", "daemon off;"]):
            visitor = Visitor(made, f"https://127.0.0.1:{ports['https']}", authority)

            async def answers() -> bool:
                return (await visitor.get("/v1/monitors"))[0] == 200

            await eventually(answers)
            assert (await visitor.get("/metrics"))[0] == 404
            assert (await Visitor(made, f"http://127.0.0.1:{ports['redirect']}", None).get("/"))[0] == 301

            probe = await made.probe("eu", *made.collectors, COLLECTOR=f"127.0.0.1:{ports['grpc']}")
            await made.monitors(3, target.url("/"))
            await made.shared_by(1, 3)
            await visitor.serves_with_either_alone()
            await _still_checks(made)
            assert probe.stop() == 0
            await made.assert_all_stored_once()


async def _still_checks(made: Fleet) -> None:
    """The probe has a session again, and new results come."""
    [before] = await made.rows("SELECT now() AS at")

    async def newer() -> bool:
        rows = await made.rows("SELECT FROM states WHERE last_at <= $1", before["at"])
        return not rows

    await eventually(newer, timeout_s=60)


@needs_caddy
async def test_caddy_passes_people_on(database_url: str, tmp_path: Path) -> None:
    port = free_port()
    async with two_collectors(database_url, tmp_path) as made:
        environment = {
            "HOME": str(tmp_path),
            "TOCSIN_HOST": f"http://{HOST}:{port}",
            "TOCSIN_COLLECTORS": " ".join(each.settings["HTTP_LISTEN"] for each in made.collectors),
        }
        file = str(PROXY / "Caddyfile")
        checked = subprocess.run(
            ["caddy", "validate", "--adapter", "caddyfile", "--config", file],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert checked.returncode == 0, checked.stderr
        assert (
            subprocess.run(["caddy", "fmt", file], capture_output=True, check=True, text=True).stdout
            == Path(file).read_text()
        )
        with serving(["caddy", "run", "--adapter", "caddyfile", "--config", file], environment):
            visitor = Visitor(made, f"http://127.0.0.1:{port}", None)

            async def answers() -> bool:
                return (await visitor.get("/v1/monitors"))[0] == 200

            await eventually(answers)
            assert (await visitor.get("/metrics"))[0] == 404
            await visitor.serves_with_either_alone()
