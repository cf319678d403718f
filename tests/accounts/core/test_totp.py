"""Codes of authenticator apps."""

from datetime import UTC, datetime, timedelta

import pytest

from collector.accounts.core import totp

# The secret of RFC 6238's appendix B; its codes have eight digits, of which apps show the last six.
SECRET = b"12345678901234567890"
NOW = datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
STEP = int(NOW.timestamp()) // totp.STEP_S


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_rfc(seconds: int, expected: str) -> None:
    assert totp.code(SECRET, seconds // totp.STEP_S) == expected


@pytest.mark.parametrize("off", [-2, -1, 0, 1, 2])
def test_clocks_may_differ_by_a_step(off: int) -> None:
    typed = totp.code(SECRET, STEP + off)

    assert totp.accepted_step(SECRET, typed, NOW, 0) == (STEP + off if abs(off) < 2 else None)


def test_no_code_counts_twice_nor_one_before_it() -> None:
    later = NOW + timedelta(seconds=totp.STEP_S)
    used = totp.accepted_step(SECRET, totp.code(SECRET, STEP), NOW, 0)

    assert used == STEP
    assert totp.accepted_step(SECRET, totp.code(SECRET, STEP), later, used) is None
    assert totp.accepted_step(SECRET, totp.code(SECRET, STEP - 1), NOW, used) is None
    assert totp.accepted_step(SECRET, totp.code(SECRET, STEP + 1), later, used) == STEP + 1


@pytest.mark.parametrize("typed", ["", "0", "12345", "1234567", "abcdef", "٢٨٧٠٨٢", "\0" * 6, "-12345"])
def test_other_texts_are_no_codes(typed: str) -> None:
    assert totp.accepted_step(SECRET, typed, NOW, 0) is None


def test_a_code_may_be_typed_in_groups() -> None:
    typed = totp.code(SECRET, STEP)

    assert totp.accepted_step(SECRET, f" {typed[:3]} {typed[3:]} ", NOW, 0) == STEP


def test_an_app_reads_secret_and_account_from_the_uri() -> None:
    uri = totp.key_uri(SECRET, "Tocsin", "on call+1@example.com")

    assert uri == (
        "otpauth://totp/Tocsin:on%20call%2B1%40example.com"
        "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Tocsin"
    )
    assert totp.as_text(SECRET) == "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"
