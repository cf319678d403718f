"""Markdown of incident updates: a safe subset, and the text of anything else stays as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.status_pages.core.markdown import BlockKind, parse, plain, spans
from collector.status_pages.web.markdown import html

REL = 'rel="nofollow noopener noreferrer"'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("**40 minutes** of *it*", "<strong>40 minutes</strong> of <em>it</em>"),
        ("__a__ and _b_", "<strong>a</strong> and <em>b</em>"),
        ("**a *b* c**", "<strong>a </strong><strong><em>b</em></strong><strong> c</strong>"),
        ("snake_case_name", "snake_case_name"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("**not closed", "**not closed"),
        ("*a **b* c**", "<em>a </em><em>**</em><em>b</em> c**"),
        (r"\*as it is\*", "*as it is*"),
        ("`a < b && *c*`", "<code>a &lt; b &amp;&amp; *c*</code>"),
        ("[run](https://example.com/a?b=1&c)", f'<a href="https://example.com/a?b=1&amp;c" {REL}>run</a>'),
        ("[mail](mailto:help@example.com)", f'<a href="mailto:help@example.com" {REL}>mail</a>'),
        (
            "See https://example.com/a_(b).",
            f'See <a href="https://example.com/a_(b)" {REL}>https://example.com/a_(b)</a>.',
        ),
        (
            "(https://example.com)",
            f'(<a href="https://example.com" {REL}>https://example.com</a>)',
        ),
        ("<https://example.com>", f'<a href="https://example.com" {REL}>https://example.com</a>'),
        ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
        ("[x](data:text/html,a)", "[x](data:text/html,a)"),
        ("[x](//example.com)", "[x](//example.com)"),
        ("<b>bold</b>", "&lt;b&gt;bold&lt;/b&gt;"),
        ("![x](https://example.com/a.png)", f'!<a href="https://example.com/a.png" {REL}>x</a>'),
    ],
)
def test_a_line_as_html(text: str, written: str) -> None:
    assert html(text) == f'<p class="text" dir="auto">{written}</p>'


def test_blocks_as_html() -> None:
    text = "# Cause\nA disk.\nA *full* one.\n\n- one\n- two\n  more\n\n3. three\n\n> said\n> so\n"
    text += "\n```\na  < b\n```\nend"

    kinds = [block.kind for block in parse(text)]

    assert kinds == ["heading", "paragraph", "list", "numbered", "quote", "code", "paragraph"]
    assert html(text).split("\n<")[2:5] == [
        'ul dir="auto"><li class="text">one</li><li class="text">two\nmore</li></ul>',
        'ol dir="auto" start="3"><li class="text">three</li></ol>',
        'blockquote class="text" dir="auto">said\nso</blockquote>',
    ]
    assert "<code>a  &lt; b</code>" in html(text)
    # The page's own headings keep their ranks.
    assert "<h1" not in html(text)


def test_plain_text_for_mails_and_feeds() -> None:
    text = (
        "**Soon** at [our blog](https://example.com/b) or https://example.com:\n\n* one\n* `two`\n\n> three"
    )

    assert plain(text) == (
        "Soon at our blog (https://example.com/b) or https://example.com:\n\n- one\n- two\n\n> three"
    )


@given(st.text(alphabet=st.sampled_from("ab *_`[]()<>\\#-+1.\n\t~:/h\"'&"), max_size=80))
def test_no_text_is_an_error_and_none_makes_other_elements(text: str) -> None:
    written = html(text)

    assert plain(text) is not None
    assert all(tag in ALLOWED for tag in _tags(written)), written


ALLOWED = frozenset(
    f"{slash}{tag}"
    for tag in ("p", "strong", "em", "code", "pre", "a", "ul", "ol", "li", "blockquote")
    for slash in ("", "/")
)


def _tags(written: str) -> list[str]:
    return [part.partition(">")[0].partition(" ")[0] for part in written.split("<")[1:]]


@given(st.text(alphabet="abc \n", max_size=60))
def test_text_without_marks_keeps_its_words(text: str) -> None:
    assert plain(text).split() == text.split()


@pytest.mark.parametrize(
    "part",
    ["*", "**", "_a", "[", "[a](", "[a](http://", "(", "https://a(", "`", "> ", "- a\n", "\\", "*a _b **c"],
)
def test_the_longest_message_of_marks_is_parsed(part: str) -> None:
    text = (part * 10_000)[:10_000]

    assert len(spans(text)) <= 10_000
    assert parse(text)[0].kind in set(BlockKind)
