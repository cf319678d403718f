"""Identifiers are readable, sortable, and no two texts name the same thing."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.ids import read, show, uuid7


@given(st.uuids())
def test_an_id_comes_back_as_it_was(value: UUID) -> None:
    text = show("mon", value)
    assert len(text) == len("mon_") + 26
    assert read("mon", text) == value


@given(st.uuids(), st.uuids())
def test_texts_sort_as_their_values(one: UUID, other: UUID) -> None:
    assert (show("mon", one) < show("mon", other)) == (one < other)


def test_a_new_id_is_a_uuid7_of_its_moment() -> None:
    value = uuid7(1_800_000_000_000)
    assert value.version == 7
    assert value.variant == "specified in RFC 4122"
    assert value.int >> 80 == 1_800_000_000_000


def test_later_ids_sort_after_earlier_ones() -> None:
    ids = [uuid7(ms) for ms in range(1_800_000_000_000, 1_800_000_000_050)]
    assert ids == sorted(ids)
    assert len({uuid7(1) for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("mon_", id="no digits"),
        pytest.param("inc_01jd0000000000000000000000", id="another prefix"),
        pytest.param("mon_01jd000000000000000000000", id="too short"),
        pytest.param("mon_01jd00000000000000000000000", id="too long"),
        pytest.param("mon_81jd0000000000000000000000", id="more than 128 bits"),
        pytest.param("mon_01JD0000000000000000000000", id="upper case: one thing has one name"),
        pytest.param("mon_01jd000000000000000000000u", id="a letter that is not in the alphabet"),
    ],
)
def test_what_is_no_id_names_nothing(text: str) -> None:
    assert read("mon", text) is None
