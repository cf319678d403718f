"""Mail, databases and names: the checks against servers that others wrote."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from probe.checks import CHECKS
from probe.net.engine import Net
from probe.schedule.runner import run
from shared.kinds import load
from shared.results import Outcome, Status
from tests.probe import peers
from tests.probe.net.zoo import HERE, ROOT, issue
from tests.probe.peers import PASSWORD, USER, Ports, needs

pytestmark = pytest.mark.races

LEAF = issue("", ROOT, hosts=(HERE,))
LOGIN = {"username": USER, "password": PASSWORD}
WRONG = {"username": USER, "password": "not that one"}
TLS = {"security": "tls"}
STARTTLS = {"security": "starttls"}

ZONE = """
$ORIGIN example.com.
$TTL 60
@       SOA ns admin 7 3600 600 86400 60
@       NS  ns
@       MX  10 mail
@       CAA 0 issue "ca.example.net"
@       TXT "v=spf1 -all"
ns      A   192.0.2.53
www     A   192.0.2.1
www     A   192.0.2.2
www     AAAA 2001:db8::1
shop    CNAME www
_imap._tcp SRV 5 0 143 mail
long    TXT "{long}"
sub     NS  ns.elsewhere.example.net.
""".replace("{long}", '" "'.join(letter * 250 for letter in "abcdefgh"))


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    (tmp_path / "root.pem").write_bytes(ROOT.pem)
    net = Net(ca_file=tmp_path / "root.pem")
    yield net
    net.close()


async def check(net: Net, type_: str, **config: Any) -> Outcome:
    kind = load(type_, config if type_ == "dns" else {"host": HERE, **config})
    return (await run(CHECKS[type_](kind), net, 10.0)).outcome


def _of(peer: AbstractContextManager[Any]) -> Iterator[Any]:
    with peer as found:
        yield found


@pytest.fixture(scope="module")
def mail() -> Iterator[tuple[Ports, Ports]]:
    yield from _of(peers.dovecot(LEAF))


@pytest.fixture(scope="module")
def post() -> Iterator[Ports]:
    yield from _of(peers.postfix(LEAF))


@pytest.fixture(scope="module")
def database() -> Iterator[int]:
    yield from _of(peers.mariadb(LEAF))


@pytest.fixture(scope="module")
def store() -> Iterator[Ports]:
    yield from _of(peers.redis(LEAF))


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    yield from _of(peers.nsd(ZONE))


@needs("dovecot", "dovecot")
@pytest.mark.parametrize("type_", ["imap", "pop3"])
@pytest.mark.parametrize(
    ("config", "error"),
    [
        pytest.param({}, "", id="clear"),
        pytest.param(STARTTLS, "", id="starttls"),
        pytest.param(TLS, "", id="tls"),
        pytest.param({**STARTTLS, **LOGIN}, "", id="login after starttls"),
        pytest.param({**TLS, **LOGIN}, "", id="login over tls"),
        pytest.param({**TLS, **WRONG}, "auth: refused", id="wrong password"),
        pytest.param({**STARTTLS, **LOGIN, "username": "nobody"}, "auth: refused", id="unknown user"),
        pytest.param(LOGIN, "", id="login in clear text, on the same machine"),
    ],
)
async def test_dovecot(
    net: Net, mail: tuple[Ports, Ports], type_: str, config: dict[str, Any], error: str
) -> None:
    ports = mail[type_ == "pop3"]
    port = ports.tls if config.get("security") == "tls" else ports.plain
    outcome = await check(net, type_, port=port, **config)
    assert (outcome.status, outcome.error) == (Status.DOWN if error else Status.UP, error)
    assert PASSWORD not in outcome.error
    secured = not error and "security" in config
    assert outcome.ends == (LEAF.certificate.not_valid_after_utc.timestamp() if secured else None)


@needs("dovecot", "dovecot")
@pytest.mark.parametrize("type_", ["imap", "pop3"])
async def test_a_mail_server_that_nobody_vouches_for(net: Net, mail: tuple[Ports, Ports], type_: str) -> None:
    stranger = Net()
    ports = mail[type_ == "pop3"]
    try:
        for config in ({"port": ports.tls, **TLS}, {"port": ports.plain, **STARTTLS}):
            outcome = await check(stranger, type_, **config)
            assert (outcome.status, outcome.error[:5]) == (Status.DOWN, "tls: ")
            assert (await check(stranger, type_, verifyTls=False, **config)).status is Status.UP
    finally:
        stranger.close()


@needs("dovecot", "dovecot")
@pytest.mark.parametrize("start_tls", ["imap", "pop3"])
@pytest.mark.parametrize(
    ("days", "error"), [(14, ""), (90, "tls: certificate expires in 59 days, 90 are wanted")]
)
async def test_the_certificate_of_a_mail_server(
    net: Net, mail: tuple[Ports, Ports], start_tls: str, days: int, error: str
) -> None:
    port = mail[start_tls == "pop3"].plain
    outcome = await check_certificate(net, f"{HERE}:{port}", startTls=start_tls, expiryDays=days)
    assert outcome.error == error
    assert outcome.ends == LEAF.certificate.not_valid_after_utc.timestamp()


async def check_certificate(net: Net, domain: str, **config: Any) -> Outcome:
    kind = load("tls", {"domain": domain, **config})
    return (await run(CHECKS["tls"](kind), net, 10.0)).outcome


@needs("mariadbd", "mariadb")
@pytest.mark.parametrize(
    ("config", "error"),
    [
        pytest.param({}, "", id="stranger"),
        pytest.param({"tls": True}, "", id="stranger over tls"),
        pytest.param(LOGIN, "", id="login"),
        pytest.param({**LOGIN, "tls": True}, "", id="login over tls"),
        pytest.param({**LOGIN, "username": "secure", "tls": True}, "", id="who must come over tls"),
        pytest.param({**LOGIN, "username": "secure"}, "auth: refused (1045)", id="who must, and does not"),
        pytest.param(WRONG, "auth: refused (1045)", id="wrong password"),
        pytest.param({**LOGIN, "username": "nobody"}, "auth: refused (1045)", id="unknown user"),
    ],
)
async def test_mariadb(net: Net, database: int, config: dict[str, Any], error: str) -> None:
    outcome = await check(net, "mysql", port=database, **config)
    assert (outcome.status, outcome.error) == (Status.DOWN if error else Status.UP, error)


@needs("mariadbd", "mariadb")
async def test_mariadb_shuts_nobody_out_who_looked_often(net: Net, database: int) -> None:
    """It does so after max_connect_errors handshakes that were broken off, which are 100."""
    for config in ({}, LOGIN, WRONG):
        for _ in range(110):
            await check(net, "mysql", port=database, **config)
    assert (await check(net, "mysql", port=database, **LOGIN)).error == ""


@needs("redis-server", "redis")
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    ("config", "error"),
    [
        pytest.param({}, "", id="stranger"),
        pytest.param({"password": PASSWORD}, "", id="password"),
        pytest.param(LOGIN, "", id="login"),
        pytest.param({"password": "not that one"}, "auth: refused ('WRONGPASS')", id="wrong password"),
        pytest.param(WRONG, "auth: refused ('WRONGPASS')", id="wrong password of a user"),
        pytest.param({**LOGIN, "username": "shut"}, "auth: refused ('WRONGPASS')", id="disabled user"),
        pytest.param({**LOGIN, "username": "mute"}, 'ping: answered "NOPERM ', id="user that may not ping"),
    ],
)
async def test_redis(net: Net, store: Ports, config: dict[str, Any], error: str, *, tls: bool) -> None:
    outcome = await check(net, "redis", port=store.tls if tls else store.plain, tls=tls, **config)
    assert outcome.status is (Status.DOWN if error else Status.UP)
    assert outcome.error[: len(error)] == error
    assert bool(outcome.error) == bool(error)


@needs("redis-server", "redis")
async def test_clear_text_where_redis_wants_tls_and_the_other_way(net: Net, store: Ports) -> None:
    plain = await check(net, "redis", port=store.tls)
    assert (plain.status, plain.error) == (Status.DOWN, f"ping: connection reset by {HERE}:{store.tls}")
    kind = load("redis", {"host": HERE, "port": store.plain, "tls": True})
    secure = (await run(CHECKS["redis"](kind), net, 0.5)).outcome
    assert (secure.status, secure.error) == (Status.DOWN, "tls: handshake not done within 0.5 s")


@needs("nsd", "nsd")
@pytest.mark.parametrize(
    ("config", "error"),
    [
        pytest.param({"host": "www.example.com", "expected": ["192.0.2.1", "192.0.2.2"]}, "", id="A"),
        pytest.param(
            {"host": "www.example.com", "recordType": "AAAA", "expected": ["2001:db8::1"]}, "", id="AAAA"
        ),
        pytest.param(
            {"host": "shop.example.com", "recordType": "CNAME", "expected": ["www.example.com"]},
            "",
            id="CNAME",
        ),
        pytest.param({"host": "shop.example.com", "expected": ["192.0.2.1"]}, "", id="A behind a CNAME"),
        pytest.param(
            {"host": "example.com", "recordType": "MX", "expected": ["10 mail.example.com."]}, "", id="MX"
        ),
        pytest.param(
            {"host": "example.com", "recordType": "TXT", "expected": ['"v=spf1 -all"']}, "", id="TXT"
        ),
        pytest.param(
            {"host": "example.com", "recordType": "NS", "expected": ["ns.example.com"]}, "", id="NS"
        ),
        pytest.param(
            {
                "host": "example.com",
                "recordType": "SOA",
                "expected": ["ns.example.com. admin.example.com. 7 3600 600 86400 60"],
            },
            "",
            id="SOA",
        ),
        pytest.param(
            {
                "host": "_imap._tcp.example.com",
                "recordType": "SRV",
                "expected": ["5 0 143 mail.example.com"],
            },
            "",
            id="SRV",
        ),
        pytest.param(
            {"host": "example.com", "recordType": "CAA", "expected": ['0 issue "ca.example.net"']},
            "",
            id="CAA",
        ),
        pytest.param({"host": "long.example.com", "recordType": "TXT"}, "", id="an answer too long for UDP"),
        pytest.param({"host": "none.example.com", "rcode": "NXDOMAIN"}, "", id="none, as is wanted"),
        pytest.param({"host": "example.net", "rcode": "REFUSED"}, "", id="refused, as is wanted"),
    ],
)
async def test_nsd(net: Net, names: str, config: dict[str, Any], error: str) -> None:
    outcome = await check(net, "dns", resolver=names, **config)
    assert (outcome.status, outcome.error) == (Status.DOWN if error else Status.UP, error)


@needs("nsd", "nsd")
@pytest.mark.parametrize(
    ("config", "error"),
    [
        ({"host": "none.example.com"}, "dns: answered NXDOMAIN, expected NOERROR"),
        ({"host": "example.net"}, "dns: answered REFUSED, expected NOERROR"),
        (
            {"host": "www.example.com", "expected": ["192.0.2.9"]},
            "dns: 192.0.2.9 is not among the answers: 192.0.2.1, 192.0.2.2",
        ),
        ({"host": "ns.example.com", "recordType": "AAAA"}, "dns: no AAAA record for ns.example.com"),
        (
            {"host": "example.com", "recordType": "MX", "expected": ["20 mail.example.com"]},
            "dns: 20 mail.example.com is not among the answers: 10 mail.example.com",
        ),
        ({"host": "www.example.com", "rcode": "NXDOMAIN"}, "dns: answered NOERROR, expected NXDOMAIN"),
    ],
)
async def test_what_nsd_answers_otherwise_is_a_failure(
    net: Net, names: str, config: dict[str, Any], error: str
) -> None:
    outcome = await check(net, "dns", resolver=names, **config)
    assert (outcome.status, outcome.error) == (Status.DOWN, error)


@needs("postfix", "postfix")
@needs("dovecot", "dovecot")
@pytest.mark.parametrize(
    ("config", "error"),
    [
        pytest.param({}, "", id="clear"),
        pytest.param(STARTTLS, "", id="starttls"),
        pytest.param(TLS, "", id="tls"),
        pytest.param({**STARTTLS, **LOGIN}, "", id="login after starttls"),
        pytest.param({**TLS, **LOGIN}, "", id="login over tls"),
        pytest.param({**TLS, **WRONG}, "auth: refused ('535')", id="wrong password"),
        pytest.param(LOGIN, "auth: neither PLAIN nor LOGIN is offered", id="login in clear text"),
    ],
)
async def test_postfix(net: Net, post: Ports, config: dict[str, Any], error: str) -> None:
    port = post.tls if config.get("security") == "tls" else post.plain
    outcome = await check(net, "smtp", port=port, **config)
    assert (outcome.status, outcome.error) == (Status.DOWN if error else Status.UP, error)


@needs("openssl", "openssl")
@pytest.mark.parametrize(
    ("options", "config", "error"),
    [
        ((), {}, ""),
        (("-tls1_2",), {"minVersion": "1.2"}, ""),
        (("-tls1_2",), {"minVersion": "1.3"}, "tls: TLSv1.2 was spoken, 1.3 is the least that is wanted"),
        (("-tls1_3",), {"minVersion": "1.3"}, ""),
        ((), {"expiryDays": 60}, "tls: certificate expires in 59 days, 60 are wanted"),
        ((), {"serverName": "shop.example.com"}, "tls: certificate is for 127.0.0.1, not shop.example.com"),
    ],
)
async def test_openssl(net: Net, options: tuple[str, ...], config: dict[str, Any], error: str) -> None:
    with peers.openssl(LEAF, options=options) as port:
        outcome = await check_certificate(net, f"{HERE}:{port}", **config)
    assert outcome.error.partition(" (")[0] == error
    assert outcome.ends == LEAF.certificate.not_valid_after_utc.timestamp()
