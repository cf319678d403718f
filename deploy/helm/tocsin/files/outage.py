"""Takes a target down and waits for the alert: exit status 0 if the outage and its end are notified.

TOCSIN_URL, TOCSIN_TOKEN: the service and a token that may write. LOCATION: whose probes check. ADDRESS: of
this pod, where it serves the target and receives the webhook.
"""

import json
import os
import queue
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE_S = 120


class Target(ThreadingHTTPServer):
    """A target at GET, with a status that changes, and a receiver of events at POST."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("", 0), Handler)
        self.events: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def wait_for(self, event: str) -> None:
        """Wait until an event of this kind arrives."""
        deadline = time.monotonic() + PATIENCE_S
        while self.events.get(timeout=max(0, deadline - time.monotonic())) != event:
            pass
        print(f"{event}: notified", flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.answer(self.server.status)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.events.put(self.headers.get("X-Service-Event"))
        self.answer(200)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def call(method: str, path: str, body: Any = None) -> Any:
    """Call the API; return what it answers."""
    request = urllib.request.Request(
        os.environ["TOCSIN_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {os.environ['TOCSIN_TOKEN']}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        text = response.read()
    return json.loads(text) if text else None


def main() -> None:
    target = Target()
    url = f"http://{os.environ['ADDRESS']}:{target.server_port}/"
    monitor = {
        "name": "helm test",
        "type": "http",
        "interval": 5,
        "timeout": 5,
        "locations": [os.environ["LOCATION"]],
        "config": {"url": url},
    }
    made = call("POST", "/v1/monitors", monitor)["id"]
    config = {"url": url, "monitors": [made], "events": ["monitor.down", "monitor.up"]}
    hook = {"name": "helm test", "type": "webhook", "config": config}
    channel = call("POST", "/v1/alert-channels", hook)["id"]
    try:
        deadline = time.monotonic() + PATIENCE_S
        while call("GET", f"/v1/monitors/{made}")["status"] != "up":
            if time.monotonic() > deadline:
                sys.exit(f"no probe at {os.environ['LOCATION']} has checked {url}")
            time.sleep(1)
        target.status = 503
        target.wait_for("monitor.down")
        target.status = 200
        target.wait_for("monitor.up")
    except queue.Empty:
        sys.exit("the alert did not arrive")
    finally:
        call("DELETE", f"/v1/alert-channels/{channel}")
        call("DELETE", f"/v1/monitors/{made}")


if __name__ == "__main__":
    main()
