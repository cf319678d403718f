"""A join token comes back as it went, and a cut one is seen without asking anybody."""

import pytest

from shared import join_tokens

FINGERPRINT = bytes(range(32))


def test_it_is_read_as_it_was_shown() -> None:
    made = join_tokens.new(FINGERPRINT)

    assert join_tokens.read(join_tokens.show(made)) == made
    assert join_tokens.show(made).startswith("tocsin_join_")
    assert made.secret != join_tokens.new(FINGERPRINT).secret


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda text: text[:-1], id="cut at the end"),
        pytest.param(lambda text: text[:-8], id="cut by a whole group"),
        pytest.param(lambda text: text[:20] + ("A" if text[20] != "A" else "B") + text[21:], id="mistyped"),
        pytest.param(lambda text: text.removeprefix("tocsin_"), id="without its prefix"),
        pytest.param(lambda text: text + "\n", id="a line too long"),
        pytest.param(lambda _: "tocsin_join_", id="only the prefix"),
        pytest.param(lambda _: "tocsin_join_é" + "A" * 79, id="not ASCII"),
        pytest.param(lambda _: "", id="nothing"),
    ],
)
def test_what_is_no_whole_token_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(ValueError, match="join token"):
        join_tokens.read(spoil(join_tokens.show(join_tokens.new(FINGERPRINT))))
