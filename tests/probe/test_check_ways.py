"""`tocsin check http` by other versions of HTTP and through a proxy."""

import pytest

from tests.probe.net import h2_server as h2
from tests.probe.net import proxies
from tests.probe.targets import OK, says, target
from tests.probe.test_check import check, check_json

pytestmark = pytest.mark.races


async def test_http_2_is_asked_for_by_a_flag() -> None:
    with target(h2.answers(h2.headers(), h2.data(b"ok"))) as server:
        status, told = await check_json("http", server.url, "--http-version", "2")

    assert (status, told["statusCode"], told["error"]) == (0, 200, None)
    assert told["phases"]["firstByte"] is not None


async def test_a_proxy_is_named_by_a_flag_and_its_password_not_repeated() -> None:
    seen: list[str] = []
    with target(says(OK)) as server, target(proxies.socks5(seen, login=("user", "s3cr3t"))) as proxy:
        good = await check("http", server.url, "--proxy", f"socks5h://user:s3cr3t@{proxy.peer}")
        bad = await check("http", server.url, "--proxy", f"socks5h://user:s3cr4t@{proxy.peer}")

    assert (good[0], bad[0]) == (0, 1)
    assert seen == [server.peer]
    assert f"connect: proxy {proxy.peer} does not take the login" in bad[1]
    assert "s3cr" not in good[1] + bad[1]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["http://a/", "--proxy", "ftp://x:y@z"], "must be SCHEME://HOST:PORT"),
        (["http://a/", "--http-version", "3"], "httpVersion 3 needs an https URL"),
        (["https://a/", "--http-version", "3", "--proxy", "http://z"], "proxy cannot be used with HTTP/3"),
    ],
)
async def test_what_does_not_go_together_is_a_misuse(argv: list[str], why: str) -> None:
    status, _, err = await check("http", *argv)

    assert status == 2
    assert why in err
