"""A webhook receiver to begin with: checks the signature, drops what it had already, prints the rest.

    python3 receiver.py --port 9001 --secret SECRET

It needs nothing but Python. Answer 2xx quickly and do the work later; the same event may come more than once.
"""

import argparse
import hashlib
import hmac
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 1024 * 1024
# A signed request that somebody recorded is worth nothing after this.
MAX_AGE_S = 300

had: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    """Takes POSTs of events."""

    secret = b""

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), MAX_BODY))
        if not self.is_genuine(body):
            self.answer(401)
            return
        event = json.loads(body)
        if event["id"] not in had:
            had.add(event["id"])
            print(
                f"{event['timestamp']} {event['event']}: {event.get('monitor', {}).get('name', '')}",
                flush=True,
            )
            told = next((event[name] for name in ("alert", "log", "incident") if event.get(name)), None)
            print(json.dumps(told, indent=2), flush=True)
        self.answer(204)

    def is_genuine(self, body: bytes) -> bool:
        """The hex HMAC-SHA256 of the very bytes that came, and a time stamp of just now."""
        expected = hmac.new(self.secret, body, hashlib.sha256).hexdigest()
        signed = hmac.compare_digest(self.headers.get("X-Service-Signature", ""), expected)
        return signed and abs(time.time() - int(self.headers.get("webhook-timestamp", 0))) <= MAX_AGE_S

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's own name
        """Say nothing of each request: what counts is printed above."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9001)
    parser.add_argument("--secret", required=True)
    options = parser.parse_args()
    Receiver.secret = options.secret.encode()
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Receiver)
    print(f"listening on port {options.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
