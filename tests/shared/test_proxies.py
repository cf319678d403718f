"""The proxy and the version of HTTP that an http monitor may name."""

import pytest

from shared.kinds.http import Http, is_proxy
from shared.secrets import secret_texts


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("http://proxy.example.com", True),
        ("http://proxy.example.com:3128/", True),
        ("https://user:word@proxy.example.com:8443", True),
        ("socks5://127.0.0.1:1080", True),
        ("socks5h://[::1]:1080", True),
        ("SOCKS5://proxy", True),
        ("http://user:p%20a%3Ass@proxy", True),
        ("", False),
        ("proxy:3128", False),
        ("ftp://proxy", False),
        ("socks4://proxy", False),
        ("http://", False),
        ("http://proxy:0", False),
        ("http://proxy:65536", False),
        ("http://proxy/path", False),
        ("http://proxy?a=b", False),
        ("http://proxy#a", False),
        ("http://pro xy", False),
        ("http://proxy\r\nX: y", False),
        ("http://user:a%0d%0aX%3a%20y@proxy", False),
        ("http://user:a%00@proxy", False),
        (f"socks5://user:{'x' * 256}@proxy", False),
        ("socks5://[::1", False),
    ],
)
def test_proxies(text: str, good: bool) -> None:
    assert is_proxy(text) is good


@pytest.mark.parametrize(
    ("url", "config", "faults"),
    [
        ("https://a.example.com/", {"http_version": "3"}, {}),
        ("HTTPS://a.example.com/", {"http_version": "3"}, {}),
        ("http://a.example.com/", {"http_version": "3"}, {"httpVersion": "3 needs an https URL"}),
        ("http://a.example.com/", {"http_version": "2"}, {}),
        ("http://a.example.com/", {"http_version": "2", "proxy": "socks5://p"}, {}),
        (
            "https://a.example.com/",
            {"http_version": "3", "proxy": "socks5://p"},
            {"proxy": "cannot be used with HTTP/3"},
        ),
        ("https://a.example.com/", {"http_version": "3", "proxy": ""}, {}),
    ],
)
def test_versions_and_ways_that_do_not_fit(url: str, config: dict[str, str], faults: dict[str, str]) -> None:
    assert Http(url=url, **config).faults() == faults  # type: ignore[arg-type]


def test_a_proxy_s_password_is_a_secret_in_each_form() -> None:
    texts = secret_texts(Http(url="http://a/", proxy="socks5://user:p%20word@proxy"))

    assert {"p word", "p%20word", "dXNlcjpwIHdvcmQ="} <= set(texts)
