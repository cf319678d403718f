"""Passwords at rest."""

from collector.accounts.core.passwords import HASH_BYTES, SALT_BYTES, matches, nobodys, stored

SALT = bytes(SALT_BYTES)


def test_a_password_matches_what_was_made_of_it_and_no_other_does() -> None:
    kept = stored("correct horse", SALT)

    assert matches("correct horse", kept)
    assert not matches("correct horsf", kept)
    assert "correct" not in kept


def test_the_same_password_looks_different_under_another_salt() -> None:
    assert stored("correct horse", SALT) != stored("correct horse", b"\x01" * SALT_BYTES)


def test_an_accent_may_be_typed_in_either_way() -> None:
    assert matches("cafe\u0301", stored("caf\u00e9", SALT))


def test_an_older_cost_is_read_from_what_is_kept() -> None:
    # The first of the vectors in RFC 7914 that has a password.
    derived = (
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
        "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
    )

    assert matches("password", f"scrypt$1024$8$16${b'NaCl'.hex()}${derived}")


def test_nobodys_password_has_the_shape_and_so_the_cost_of_a_real_one() -> None:
    kept, stand_in = stored("correct horse", SALT), nobodys(SALT, bytes(HASH_BYTES))

    assert stand_in.split("$")[:5] == kept.split("$")[:5]
    assert len(stand_in) == len(kept)
    assert not matches("correct horse", stand_in)
    assert not matches("", stand_in)
