"""What the commands make of services that are busy, broken, hostile, or no Tocsin at all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from client.api import Api
from shared.errors import Conflict, Invalid, Unavailable

pytestmark = pytest.mark.races

TOKEN = "a-token-of-many-letters"


class Peer(BaseHTTPRequestHandler):
    """Answers each request with the next of *answers*: status, headers and body."""

    answers: ClassVar[list[tuple[int, dict[str, str], bytes]]] = []
    seen: ClassVar[list[Message]] = []

    def do_GET(self) -> None:
        self.seen.append(self.headers)
        status, headers, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    do_POST = do_GET  # noqa: N815 - as the standard library calls it

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def answering(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[Api, type[Peer]]]:
    """Run a peer for the block; yield a client of it."""
    peer = type("Peer", (Peer,), {"answers": list(answers), "seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), peer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Api(f"http://127.0.0.1:{server.server_port}", TOKEN), peer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_busy_service_is_asked_again_with_the_same_key() -> None:
    busy = b'{"error": "Too Many Requests", "message": "wait", "status": 429, "retryAfter": 0}'
    with answering((429, {"Retry-After": "0"}, busy), (200, {}, b'{"status": "paused"}')) as (api, peer):
        assert api.post("/monitors/x/pause") == {"status": "paused"}

    keys = {headers["Idempotency-Key"] for headers in peer.seen}
    assert (len(peer.seen), len(keys)) == (2, 1)


def test_a_connection_that_breaks_in_an_answer_is_repeated() -> None:
    with answering((200, {"Content-Length": "100"}, b'{"a"'), (200, {}, b'{"a": 1}')) as (api, peer):
        assert api.get("/me") == {"a": 1}
        assert len(peer.seen) == 2


def test_a_redirect_never_carries_the_token_away() -> None:
    with answering((200, {}, b"{}")) as (_, other), answering((302, {}, b"")) as (api, peer):
        peer.answers[:] = [(302, {"Location": "http://127.0.0.1:9/v1/me"}, b"")]
        with pytest.raises(Unavailable, match="answers 302"):
            api.get("/me")
        assert other.seen == []


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'"x"', b"[" * 100_000, b"\xff\xfe", b"null"], ids=lambda body: repr(body[:8])
)
@pytest.mark.parametrize("status", [200, 404, 500])
def test_an_answer_that_is_not_tocsins_is_named(status: int, body: bytes) -> None:
    with answering((status, {}, body)) as (api, _), pytest.raises(Unavailable, match=r"127\.0\.0\.1"):
        api.get("/me")


def test_the_faults_of_each_field_are_in_the_text() -> None:
    body = b'{"message": "Invalid request", "status": 400, "details": {"duration": "no"}}'
    with answering((400, {}, body)) as (api, _), pytest.raises(Invalid, match="duration: no"):
        api.post("/monitors/x/silence")


def test_a_refusal_is_in_the_words_of_the_service() -> None:
    body = b'{"error": "Conflict", "message": "It is acknowledged already", "status": 409}'
    with answering((409, {}, body)) as (api, _), pytest.raises(Conflict, match="acknowledged already"):
        api.post("/incidents/x/acknowledge")


def test_a_service_that_is_away_is_named() -> None:
    with pytest.raises(Unavailable, match=r"http://127.0.0.1:9 cannot be reached: .*refused"):
        Api("http://127.0.0.1:9/v1", TOKEN).get("/me")


def test_a_stream_that_ends_is_resumed_after_its_last_event() -> None:
    first = b'retry: 2000\n\nid: evt_1\n\nid: evt_2\nevent: monitor.down\ndata: {"a": 1}\n\n: comment\n\n'
    second = b"id: evt_3\nevent: monitor.up\ndata: nonsense\n\n"
    with answering((200, {}, first), (200, {}, second)) as (api, peer):
        events = api.events(kind="monitor.down,monitor.up")
        found = [next(events), next(events)]

    assert [(event.id, event.kind, event.payload) for event in found] == [
        ("evt_2", "monitor.down", {"a": 1}),
        ("evt_3", "monitor.up", {}),
    ]
    assert [headers.get("Last-Event-ID") for headers in peer.seen] == [None, "evt_2"]
