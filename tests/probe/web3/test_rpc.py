"""One node asked: whatever it answers, there are results in the order of the calls, or plain words."""

import asyncio
import gzip
import json
import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3.rpc import Call, Node, NodeFault, Refusal, TooLarge
from tests.probe import targets
from tests.probe.net.zoo import issue, serving
from tests.probe.targets import Behaviour, target
from tests.probe.web3.standin import Facts, body_of, http, node

pytestmark = pytest.mark.races

CALLS = [Call("eth_chainId"), Call("eth_gasPrice"), Call("eth_getBlockByNumber", ["0x5", False])]
MOST = 16 * 1024 * 1024


async def ask(url: str, *calls: Call, timeout_s: float = 5.0, private: bool = True) -> list[Any]:
    net = Net(allow_private=private)
    try:
        return await Node(url).ask(
            net, PhaseDurations(), Limit.until(time.monotonic() + timeout_s), calls or CALLS
        )
    finally:
        net.close()


async def fault(behave: Behaviour, timeout_s: float = 5.0, path: str = "", calls: Any = CALLS) -> str:
    with target(behave) as server, pytest.raises(NodeFault) as caught:
        await ask(server.url + path, *calls, timeout_s=timeout_s)
    return str(caught.value)


def error(code: int, message: str) -> Callable[[Any], Any]:
    """Refuses each call of a batch."""
    told = {"code": code, "message": message}
    return lambda asked: [{"jsonrpc": "2.0", "id": item["id"], "error": told} for item in asked]


async def test_several_calls_are_one_request() -> None:
    requests: list[bytes] = []

    def behave(sock: Any) -> None:
        requests.append(targets.read_request(sock))
        sock.sendall(http(Facts()(body_of(requests[-1]))))

    with target(behave) as server:
        chain, gas, block = await ask(server.url)
    assert (chain, gas, block["number"]) == ("0x1", hex(20 * 10**9), "0x5")
    assert len(requests) == 1
    assert b"Content-Type: application/json" in requests[0]


async def test_no_calls_are_no_request() -> None:
    net = Net()
    assert (
        await Node("http://127.0.0.1:1/").ask(net, PhaseDurations(), Limit.until(time.monotonic() + 1), [])
        == []
    )
    net.close()


async def test_answers_may_come_in_any_order() -> None:
    def shuffled(asked: Any) -> Any:
        answers = Facts()(asked)
        random.Random(4).shuffle(answers)
        return answers[::-1]

    with target(node(shuffled)) as server:
        chain, gas, block = await ask(server.url)
    assert (chain, gas, block["number"]) == ("0x1", hex(20 * 10**9), "0x5")


def refuses_batches(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda asked: answer(asked) if isinstance(asked, list) else Facts()(asked)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no batches"}}, 200),
        ({"error": "batch requests are not enabled"}, 400),
        (b"<h1>Bad Request</h1>", 400),
        (b"", 413),
        (b"not implemented", 501),
        # As geth says it: in a list, with the id of the first call.
        ([{"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "batch too large"}}], 200),
        ([{"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "batch too large"}}], 200),
    ],
)
async def test_a_node_that_takes_no_batches_is_asked_call_by_call(said: Any, status: int) -> None:
    batches = 0

    def behave(sock: Any) -> None:
        nonlocal batches
        asked = body_of(targets.read_request(sock))
        batches += isinstance(asked, list)
        sock.sendall(http(said, status) if isinstance(asked, list) else http(Facts()(asked)))

    net, limit = Net(), Limit.until(time.monotonic() + 5)
    with target(behave) as server:
        node = Node(server.url)
        for _ in range(2):
            assert (await node.ask(net, PhaseDurations(), limit, CALLS))[0] == "0x1"
        assert server.accepted == 1 + 2 * len(CALLS)
    net.close()
    assert batches == 1


@pytest.mark.parametrize("most", [1, 2, 10])
async def test_a_node_that_takes_few_calls_at_once_is_soon_asked_so_many(most: int) -> None:
    sizes: list[int] = []

    def answer(asked: Any) -> Any:
        sizes.append(len(asked) if isinstance(asked, list) else 1)
        return Facts()(asked) if sizes[-1] <= most else {"error": {"code": -32600, "message": "too many"}}

    net, limit = Net(), Limit.until(time.monotonic() + 20)
    with target(node(answer)) as server:
        one = Node(server.url)
        for _ in range(2):
            assert await one.ask(net, PhaseDurations(), limit, [Call("eth_chainId")] * 40) == ["0x1"] * 40
    net.close()
    refused = [size for size in sizes if size > most]
    assert refused[:2] == [40, 20]
    assert len(refused) <= 6
    assert sum(size for size in sizes if size <= most) == 80


async def test_a_node_that_once_took_no_batch_is_given_batches_again() -> None:
    hiccups, batches = iter([True]), []

    def answer(asked: Any) -> Any:
        if not isinstance(asked, list):
            return Facts()(asked)
        batches.append(len(asked))
        return {"error": "upstream is away"} if next(hiccups, False) else Facts()(asked)

    net, limit = Net(), Limit.until(time.monotonic() + 20)
    with target(node(answer)) as server:
        one = Node(server.url)
        for _ in range(26):
            assert (await one.ask(net, PhaseDurations(), limit, CALLS[:2]))[0] == "0x1"
    net.close()
    assert batches == [2, 2]


async def test_a_call_with_too_large_an_answer_says_that_a_smaller_one_may_do() -> None:
    with target(node(lambda _: b"<h1>Payload Too Large</h1>", 413)) as server, pytest.raises(TooLarge):
        await ask(server.url, Call("eth_getLogs"))


async def test_a_refusal_stands_in_the_place_of_its_call() -> None:
    def answer(asked: Any) -> Any:
        told = Facts()(asked)
        told[1] = {"id": asked[1]["id"], "error": {"code": -32000, "message": "header\nnot found\u0000"}}
        return told

    with target(node(answer)) as server:
        chain, refusal, _ = await ask(server.url)
    assert chain == "0x1"
    assert refusal == Refusal(-32000, "header not found\ufffd")


async def test_a_call_that_is_refused_without_its_id_is_refused_all_the_same() -> None:
    said = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse error"}}
    with target(node(lambda _: said)) as server:
        [refusal] = await ask(server.url, Call("eth_chainId"))
    assert refusal == Refusal(-32700, "parse error")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(lambda a: Facts()(a)[:-1], "leaves a call without an answer", id="one is missing"),
        pytest.param(
            lambda a: [*Facts()(a)[:-1], Facts()(a)[0]], "leaves a call without an answer", id="one twice"
        ),
        pytest.param(lambda a: [*Facts()(a), Facts()(a)[0]], "answers no JSON-RPC", id="too many"),
        pytest.param(lambda a: [{"id": item["id"]} for item in a], "without an answer", id="no result"),
        pytest.param(
            lambda a: [{"id": str(item["id"]), "result": 1} for item in a], "without", id="ids in text"
        ),
        pytest.param(lambda _: [1, 2, 3], "answers no JSON-RPC", id="numbers"),
        pytest.param(lambda _: "yes", "answers no JSON-RPC", id="a text"),
        pytest.param(lambda _: None, "answers no JSON-RPC", id="null"),
        pytest.param(lambda _: {"hello": 1}, "answers no JSON-RPC", id="some object"),
        pytest.param(lambda _: b"[{", "answers no JSON", id="half of it"),
        pytest.param(lambda _: b"\xff\xfe", "answers no JSON", id="no text"),
        pytest.param(lambda _: b"[" * 100_000, "answers no JSON", id="deep"),
        pytest.param(lambda _: b"", "answers no JSON", id="nothing"),
    ],
)
async def test_an_answer_of_another_shape_is_said_in_words(answer: Any, words: str) -> None:
    assert words in await fault(node(answer))


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        pytest.param(targets.close, "without an answer", id="closes"),
        pytest.param(targets.reset_after_request, "reset", id="resets"),
        pytest.param(targets.says_then_resets(http(b"x" * 99)[:-9]), "reset", id="resets in the middle"),
        pytest.param(targets.says(http(b"x" * 99)[:-9]), "after 90 of 99 bytes", id="ends too soon"),
        pytest.param(targets.drips(http({"a": 1}), 0.2), "0.6 s", id="drips"),
        pytest.param(targets.stall, "0.6 s", id="stalls"),
        pytest.param(targets.says_then_stalls(http(b"x" * 99)[:-9]), "0.6 s", id="stalls in the middle"),
        pytest.param(targets.says(b"SSH-2.0-OpenSSH\r\n"), "not an HTTP response", id="no HTTP"),
    ],
)
async def test_a_node_that_breaks_off_is_said_in_words(behave: Behaviour, words: str) -> None:
    async with asyncio.timeout(20):
        assert words in await fault(behave, 0.6)


async def test_no_more_is_read_than_16_mb() -> None:
    big = b'[{"result": "' + b"0" * (MOST + 1_000_000) + b'"}]'
    assert await fault(targets.says(http(big)), 20) == "answers more than 16 MB"


@pytest.mark.parametrize("unit", [b"{}", b"[]", b"1", b'[["a"]]', b'"a long text of what is no number"'])
async def test_what_would_take_a_second_to_read_is_not_read(unit: bytes) -> None:
    many = b"[" + b",".join([unit] * ((MOST - 2) // (len(unit) + 1))) + b"]"
    assert await fault(targets.says(http(many)), 20) == "answers more values than any node has to tell"


async def test_what_unpacks_to_too_much_is_not_unpacked() -> None:
    packed = http(gzip.compress(b" " * 20_000_000), 200, "Content-Encoding: gzip")
    assert "gzip" in await fault(targets.says(packed), 20)


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (lambda _: b"slow down", 429, "limits how often it is asked (status 429)"),
        (Facts(), 429, "limits how often it is asked (status 429)"),
        (
            error(-32005, "project ID request rate exceeded"),
            200,
            "limits how often it is asked: project ID request rate exceeded (-32005)",
        ),
        (
            lambda _: {"error": {"code": 429, "message": "your compute units per second are used up"}},
            200,
            "limits how often it is asked: your compute units per second are used up (429)",
        ),
        (
            error(-32007, "50/second request limit reached"),
            200,
            "limits how often it is asked: 50/second request limit reached (-32007)",
        ),
        (lambda _: b"forbidden", 403, "status 403"),
        (lambda _: b"moved", 301, "status 301"),
        (lambda _: b"oh no", 502, "status 502"),
    ],
)
async def test_a_node_that_will_not_is_said_in_words(answer: Any, status: int, words: str) -> None:
    assert await fault(node(answer, status)) == words


async def test_too_wide_a_range_is_no_limit_of_the_rate() -> None:
    with target(node(error(-32005, "query returned more than 10000 results"))) as server:
        answers = await ask(server.url)
    assert answers == [Refusal(-32005, "query returned more than 10000 results")] * 3


@pytest.mark.parametrize(("said", "rest_s"), [("7", 7.0), ("soon", 0.0), ("9" * 40, 0.0), ("-1", 0.0)])
async def test_a_node_says_for_how_long_it_wants_rest(said: str, rest_s: float) -> None:
    with (
        target(node(lambda _: b"", 429, f"Retry-After: {said}")) as server,
        pytest.raises(NodeFault) as caught,
    ):
        await ask(server.url)
    assert caught.value.rest_s == rest_s


def test_a_node_that_fails_rests_longer_each_time_but_never_long() -> None:
    node = Node("http://node.example.com/")
    rests = []
    for _ in range(12):
        node.rest()
        rests.append(round(node.rests_s))
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (2, 120)
    node.rest(10**9)
    assert node.rests_s <= 120
    node.served()
    assert node.rests_s == 0
    node.rest(50)
    assert 49 < node.rests_s <= 50


@pytest.mark.parametrize(
    "said",
    [
        "invalid key hunter2hunter2",
        "POST /v3/hunter2hunter2?token=swordfish1 failed",
        "http://someone:pa55word@node.example.com/v3/hunter2hunter2",
        "Basic c29tZW9uZTpwYTU1d29yZA==",
        json.dumps({"url": "/v3/hunter2hunter2"}),
    ],
)
async def test_what_a_node_says_of_our_key_is_not_told_on(said: str) -> None:
    def behave(sock: Any) -> None:
        asked = body_of(targets.read_request(sock))
        sock.sendall(http(error(-32000, said)(asked)))

    with target(behave) as server:
        url = f"http://someone:pa55word@{server.peer}/v3/hunter2hunter2?token=swordfish1"
        [refusal, *_] = await ask(url)
        shown = refusal.words
    assert not [key for key in ("hunter2", "swordfish", "pa55word", "c29tZ") if key in shown]


async def test_the_user_and_password_of_a_url_go_to_the_node_as_credentials() -> None:
    requests: list[bytes] = []

    def behave(sock: Any) -> None:
        requests.append(targets.read_request(sock))
        sock.sendall(http(Facts()(body_of(requests[-1]))))

    with target(behave) as server:
        await ask(f"http://someone:pa55word@{server.peer}/v3/key")
    assert b"Authorization: Basic c29tZW9uZTpwYTU1d29yZA==" in requests[0]
    assert requests[0].startswith(b"POST /v3/key HTTP/1.1\r\n")


async def test_a_redirect_is_not_followed() -> None:
    with target(node(Facts())) as there:
        words = await fault(node(lambda _: b"", 307, f"Location: {there.url}"))
        assert there.accepted == 0
    assert words == "status 307"


async def test_a_certificate_that_nobody_vouches_for_is_refused() -> None:
    leaf = issue("127.0.0.1")
    with target(targets.over_tls(serving(leaf), node(Facts()))) as server, pytest.raises(NodeFault) as caught:
        await ask(server.url.replace("http:", "https:"))
    assert str(caught.value).startswith("tls: ")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"])
async def test_where_inner_addresses_are_no_targets_they_are_no_nodes(host: str) -> None:
    with target(node(Facts())) as server:
        with pytest.raises(NodeFault):
            await ask(f"http://{host}:{server.port}/", private=False)
        assert server.accepted == 0


@pytest.mark.parametrize("host", ["169.254.169.254", "[::ffff:a9fe:a9fe]", "0xa9fea9fe"])
async def test_the_metadata_of_a_cloud_is_never_a_node(host: str) -> None:
    with pytest.raises(NodeFault) as caught:
        await ask(f"http://{host}/latest/meta-data/")
    assert "latest" not in str(caught.value)
