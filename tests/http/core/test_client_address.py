"""Whose request it is, behind which proxies."""

from ipaddress import ip_network

import pytest

from collector.http.client_address import client_address, network

TRUSTED = tuple(map(ip_network, ("10.0.0.0/8", "192.0.2.1/32", "2001:db8:1::/48")))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        pytest.param("203.0.113.7", [], "203.0.113.7", id="nobody in between"),
        pytest.param("203.0.113.7", ["198.51.100.1"], "203.0.113.7", id="a stranger's word is no proof"),
        pytest.param("10.0.0.1", [], "10.0.0.1", id="the proxy itself asks"),
        pytest.param("10.0.0.1", ["198.51.100.1"], "198.51.100.1", id="a proxy says who"),
        pytest.param(
            "10.0.0.1", ["1.2.3.4, 198.51.100.1"], "198.51.100.1", id="what the client wrote before"
        ),
        pytest.param("10.0.0.1", ["198.51.100.1, 10.2.3.4"], "198.51.100.1", id="two proxies"),
        pytest.param("10.0.0.1", ["198.51.100.1", "192.0.2.1"], "198.51.100.1", id="two lines"),
        pytest.param("10.0.0.1", ["1.2.3.4, 198.51.100.1", "10.9.9.9"], "198.51.100.1", id="all of it"),
        pytest.param("10.0.0.1", ["10.2.3.4"], "10.2.3.4", id="only proxies"),
        pytest.param("10.0.0.1", ["unknown"], "10.0.0.1", id="no address"),
        pytest.param("10.0.0.1", ["198.51.100.1, nonsense"], "10.0.0.1", id="nothing before it is believed"),
        pytest.param("10.0.0.1", [""], "10.0.0.1", id="empty"),
        pytest.param("10.0.0.1", ["198.51.100.1:4711"], "198.51.100.1", id="with a port"),
        pytest.param("10.0.0.1", ['"[2001:db8::7]:4711"'], "2001:db8::7", id="IPv6 with a port"),
        pytest.param("2001:db8:1::1", ["2001:db8::7"], "2001:db8::7", id="IPv6"),
        pytest.param("::ffff:10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1", id="IPv4 dressed as IPv6"),
        pytest.param("fe80::1%eth0", [], "fe80::1", id="with a zone"),
        pytest.param("", ["198.51.100.1"], "", id="a unix socket"),
    ],
)
def test_the_client_is_the_last_who_is_no_proxy(peer: str, forwarded: list[str], client: str) -> None:
    assert client_address(peer, tuple(forwarded), TRUSTED) == client


def test_without_proxies_nothing_is_believed() -> None:
    assert client_address("10.0.0.1", ("198.51.100.1",), ()) == "10.0.0.1"


@pytest.mark.parametrize(
    ("address", "same"),
    [
        pytest.param("192.0.2.1", "192.0.2.1", id="an address is one client"),
        pytest.param("2001:db8::1", "2001:db8::/64", id="so is a network of IPv6"),
        pytest.param("2001:db8::ffff:1", "2001:db8::/64", id="whatever it ends in"),
        pytest.param("::ffff:192.0.2.1", "::ffff:192.0.2.1", id="not one of IPv4 in its dress"),
        pytest.param("", "", id="nor a socket of this machine"),
    ],
)
def test_who_has_many_addresses_is_one_client(address: str, same: str) -> None:
    assert network(address) == same
