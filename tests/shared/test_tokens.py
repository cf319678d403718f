"""Tokens: a slip of the hand is seen without asking the database."""

from hypothesis import given
from hypothesis import strategies as st

from shared.tokens import ALPHABET, checksum_ok, new_token


def test_a_new_token_is_in_the_form_of_the_manual() -> None:
    token = new_token()

    assert token.startswith("tocsin_")
    assert len(token) == len("tocsin_") + 40
    assert set(token.removeprefix("tocsin_")) <= set(ALPHABET)
    assert checksum_ok(token)
    assert new_token() != token


def test_a_known_token_has_its_known_checksum() -> None:
    # By gzip: the CRC32 of 34 zeros is 0x277f8325; in base62, padded, 0iqUEf.
    assert checksum_ok("tocsin_" + "0" * 34 + "0iqUEf")


@given(place=st.integers(7, 46), letter=st.sampled_from(ALPHABET))
def test_one_wrong_letter_is_seen(place: int, letter: str) -> None:
    token = new_token()
    wrong = token[:place] + letter + token[place + 1 :]

    assert checksum_ok(wrong) == (wrong == token)


def test_other_forms_are_none() -> None:
    token = new_token()

    assert not checksum_ok(token[:-1])
    assert not checksum_ok(token + "0")
    assert not checksum_ok(token.removeprefix("tocsin_"))
    assert not checksum_ok("")
