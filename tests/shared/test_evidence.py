"""The evidence of a failed check holds no secret and stays small, whatever the target answered."""

import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.evidence import HIDDEN, MAX_BODY_BYTES, MAX_BYTES, MAX_HEADERS, Evidence, redacted
from shared.kinds.http import Auth, Http
from shared.kinds.tcp import Tcp
from shared.secrets import secret_texts

SECRET = 'hunter2 "ä&'


def body_of(text: str, *secrets: str) -> str:
    return redacted(Evidence(body=text), secrets).body


@pytest.mark.parametrize(
    "name",
    [
        "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-Amz-Security-Token",
        "X-CSRF", "x-session-id", "X-Secret", "X-Auth", "X-Password", "X-Hub-Signature-256",
    ],
)  # fmt: skip
def test_a_header_that_is_named_like_a_secret_is_hidden(name: str) -> None:
    [header] = redacted(Evidence(headers=((name, "hunter2"),))).headers
    assert header == (name, HIDDEN)


def test_other_headers_are_shown() -> None:
    headers = (("Server", "nginx"), ("Content-Type", "text/html"), ("Retry-After", "30"), ("X-Author", "me"))
    assert redacted(Evidence("192.0.2.1:443", headers, "busy")) == Evidence("192.0.2.1:443", headers, "busy")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"password": "hunter2"}', id="JSON"),
        pytest.param('{"password": "hun\\"hunter2"}', id="JSON with an escaped quote"),
        pytest.param('{"data": "{\\"password\\": \\"hunter2\\"}"}', id="JSON in JSON"),
        pytest.param('{"apiKeys": ["a", "hunter2"]}', id="a list"),
        pytest.param("{'access_token': 'hunter2'}", id="Python"),
        pytest.param("user=me&client_secret=hunter2&a=b", id="a form"),
        pytest.param("Cookie: a=b; session=hunter2; c=hunter2\r\nHost: x", id="a request's header"),
        pytest.param("authorization: Digest hunter2, response=hunter2", id="any scheme of authorization"),
        pytest.param("you sent Bearer hunter2", id="a bearer's token"),
        pytest.param("you sent Basic aHVudGVyMg==", id="basic authorization"),
        pytest.param("postgres://me:hunter2@db/x", id="a password in a URL"),
        pytest.param("DB_PASSWORD=hunter2\nDB_HOST=db", id="an environment"),
        pytest.param("password&quot;: &quot;hunter2&quot;", id="HTML"),
        pytest.param('<input type="hidden" name="csrf_token" value="hunter2">', id="a hidden field"),
        pytest.param('<meta name="csrf-token" content="hunter2" />', id="a token in the head of a page"),
        pytest.param("see eyJhbGciOiJIUzI1NiJ9.eyJodW50ZXIyIjoxfQ.hunter2", id="a JSON web token"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2", id="half a private key"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    shown = body_of(text)
    assert "hunter2" not in shown
    assert "aHVudGVyMg" not in shown
    assert HIDDEN in shown
    assert body_of(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "upstream connect error or disconnect/reset before headers",
        "KeyError: 'name'",
        "the author: unknown; page=3",
        "basic authentication is required",
        "<h1>502 Bad Gateway</h1><hr><center>nginx/1.25.3</center>",
        '{"error": "quota exceeded", "limit": 100, "keyboard": "x"}',
    ],
)
def test_what_helps_is_shown(text: str) -> None:
    assert body_of(text) == text


@pytest.mark.parametrize(
    "repeat",
    [
        pytest.param(lambda text: text, id="as it is"),
        pytest.param(lambda text: json.dumps({"x": text}), id="in JSON"),
        pytest.param(
            lambda text: json.dumps({"x": text}, ensure_ascii=False), id="in JSON that is not ASCII"
        ),
        pytest.param(lambda text: "/?x=" + quote(text, safe=""), id="in a URL"),
        pytest.param(
            lambda text: f"<p>{text.replace('&', '&amp;').replace(chr(34), '&quot;')}</p>", id="in HTML"
        ),
    ],
)
def test_a_target_that_repeats_what_it_was_told_tells_nothing(repeat: object) -> None:
    config = Http(url="https://example.com/", headers={"X-Env": SECRET}, body=SECRET + " body")
    assert callable(repeat)
    shown = body_of(str(repeat(SECRET)), *secret_texts(config))
    assert "hunter2" not in shown


def test_all_that_a_configuration_hides_is_hidden() -> None:
    config = Http(
        url="https://me:url%20secret@example.com/",
        headers={"X-Env": "header-secret", "Authorization": "Bearer bearer-secret", "Accept": "text/html"},
        body='{"user": {"pin": "json-secret"}, "page": 7}',
        auth=Auth(type="basic", username="basic-user", password="basic-secret"),
    )
    texts = secret_texts(config)
    for secret in (
        "url secret",
        "header-secret",
        "bearer-secret",
        "json-secret",
        "basic-user",
        "basic-secret",
    ):
        assert secret not in body_of(f"you said {secret} and more", *texts)
    assert body_of("bWU6dXJsIHNlY3JldA== YmFzaWMtdXNlcjpiYXNpYy1zZWNyZXQ=", *texts) == f"{HIDDEN} {HIDDEN}"
    assert body_of("text/html", *texts) == "text/html"
    form = Http(url="https://example.com/", body="a=form-secret&b=2")
    assert body_of("form-secret", *secret_texts(form)) == HIDDEN
    query = Http(url="https://example.com/?api_key=query%20secret&page=seven")
    assert body_of("for query secret, query%20secret: seven", *secret_texts(query)) == (
        f"for {HIDDEN}, {HIDDEN}: seven"
    )
    assert secret_texts(Tcp(host="example.com", port=1)) == ()


def test_a_short_secret_is_hidden_where_it_is_all_there_is() -> None:
    assert body_of("abc", "abc") == HIDDEN
    assert body_of("abcdef", "abc") == "abcdef"


def test_a_secret_that_the_cut_goes_through_is_not_told_in_part() -> None:
    long = "s" + "0123456789" * 500
    assert "0123456789" not in body_of("it was " + long[:1500], long)
    cut = redacted(Evidence(body="it was hunter2-and-mo"), ["hunter2-and-more"], whole=False)
    assert cut.body == f"it was {HIDDEN}"


@given(
    st.text(max_size=20),
    st.lists(st.tuples(st.text(max_size=300), st.text(max_size=2000)), max_size=60),
    st.text(max_size=5000),
    st.lists(st.text(min_size=4, max_size=40), max_size=4),
)
def test_it_stays_small_and_can_be_stored(
    address: str, headers: list[tuple[str, str]], body: str, secrets: list[str]
) -> None:
    seen = redacted(Evidence(address, tuple(headers), body), secrets)
    assert seen.size <= MAX_BYTES
    assert len(seen.headers) <= MAX_HEADERS
    assert len(seen.body.encode()) <= MAX_BODY_BYTES
    assert "\0" not in "".join(seen.texts)


@given(st.text("pass:=\"'\\ {}[]&;<>", max_size=200), st.text('password=:"\\', max_size=60))
def test_again_changes_nothing_more_than_it_must(before: str, after: str) -> None:
    once = redacted(Evidence(body=before + "hunter2hunter2" + after), ["hunter2hunter2"])
    assert "hunter2" not in once.body
    assert "hunter2" not in redacted(once, ["hunter2hunter2"]).body


@pytest.mark.parametrize(
    "text",
    [
        "a" * 4096,
        "password" * 512,
        "password:" * 400,
        'password="' * 400,
        "name=password " * 300,
        "basic " * 700,
        "eyJ" * 1300,
        "://" * 1300,
        "-----BEGIN PRIVATE KEY-----" * 150,
        "cookie:" * 500,
        "[" * 4000,
        "key=[" * 800,
    ],
)
@pytest.mark.races
def test_no_answer_holds_the_probe_up(text: str) -> None:
    start = time.process_time()
    body_of(text)
    assert time.process_time() - start < 0.25  # a few milliseconds on an idle machine
