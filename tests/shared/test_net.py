"""Which addresses may be connected to: the table of traps."""

import pytest

from shared.net import refusal

METADATA = [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "::169.254.169.254",
    "2002:a9fe:a9fe::",
    "2002:a9fe:a9fe::1",
    "64:ff9b::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::169.254.169.254",
    "64:ff9b:1:a9fe:a9:fe00::",
    "2001:0:a9fe:a9fe::",
    "2001::5601:5601",
    "fe80::5efe:169.254.169.254",
    "2001:db8::200:5efe:a9fe:a9fe",
    "fd00:ec2::254",
    "fd00:ec2:0:0:0:0:0:254",
    "fd00:ec2::254%1",
    "fd00:ec2::23",
    "fd20:ce::254",
    "169.254.170.2",
    "169.254.170.23",
    "100.100.100.200",
    "192.0.0.192",
]

PRIVATE = [
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("::1", "loopback"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::127.0.0.1", "loopback"),
    ("2002:7f00:1::", "loopback"),
    ("64:ff9b::7f00:1", "loopback"),
    ("0.0.0.0", "unspecified"),
    ("0.1.2.3", "unspecified"),
    ("::", "unspecified"),
    ("::ffff:0.0.0.0", "unspecified"),
    ("169.254.1.1", "link-local"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("febf::1", "link-local"),
    ("10.0.0.1", "private"),
    ("10.255.255.255", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.1.1", "private"),
    ("100.64.0.1", "private"),
    ("100.127.255.255", "private"),
    ("fc00::1", "private"),
    ("fdff::1", "private"),
    ("fec0::1", "private"),
    ("::ffff:10.0.0.1", "private"),
    ("::ffff:c0a8:101", "private"),
    ("64:ff9b::10.0.0.1", "private"),
    ("2001:0:c0a8:101::", "private"),
    ("2001:0:808:808::3f57:fefe", "private"),
    ("224.0.0.1", "multicast"),
    ("239.255.255.255", "multicast"),
    ("ff02::1", "multicast"),
    ("192.0.0.8", "reserved"),
    ("192.0.2.1", "reserved"),
    ("192.88.99.1", "reserved"),
    ("198.18.0.1", "reserved"),
    ("198.51.100.1", "reserved"),
    ("203.0.113.1", "reserved"),
    ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"),
    ("64:ff9b:1::1", "reserved"),
    ("64:ff9b:1:808:8:800:808:808", "reserved"),
    ("100::1", "reserved"),
    ("2001:db8::1", "reserved"),
    ("3fff::1", "reserved"),
    ("5f00::1", "reserved"),
]

PUBLIC = [
    "8.8.8.8",
    "1.1.1.1",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.167.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700::1111",
    "2002:808:808::1",
    "64:ff9b::8.8.8.8",
    "::ffff:8.8.8.8",
]

NOT_ADDRESSES = [
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "[::1]",
    "127.0.0.1:80",
    "1.2.3.4.5",
]


@pytest.mark.parametrize("address", METADATA)
@pytest.mark.parametrize("allow_private", [True, False])
def test_cloud_metadata_is_never_allowed(address: str, allow_private: bool) -> None:
    assert refusal(address, allow_private=allow_private) == (
        f"{address} is a cloud metadata address, which is never allowed"
    )


@pytest.mark.parametrize(("address", "kind"), PRIVATE)
def test_what_is_not_public_is_a_matter_of_policy(address: str, kind: str) -> None:
    assert refusal(address, allow_private=True) is None
    text = refusal(address, allow_private=False)
    assert text is not None
    assert text.startswith(f"{address} is a")
    assert kind in text
    assert text.endswith(" address, which is not allowed here")


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_always_allowed(address: str) -> None:
    assert refusal(address, allow_private=False) is None


@pytest.mark.parametrize("address", NOT_ADDRESSES)
def test_what_is_no_address_is_refused(address: str) -> None:
    assert refusal(address, allow_private=True) == f"{address} is not an IP address"
