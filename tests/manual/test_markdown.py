"""The Markdown of docs/ as HTML: everything is escaped, links lead to where they are told to lead."""

import pytest

from collector.manual.core.markdown import links, plain, relinked, sections


def html(text: str) -> str:
    [section] = sections(f"# Title\n\n{text}", lambda target: f"/docs/{target}")
    return section.html.partition("</h1>\n")[2]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One line\nand another.", "<p>One line and another.</p>"),
        ("`a < b` **is *not* so**", "<p><code>a &lt; b</code> <strong>is <em>not</em> so</strong></p>"),
        ("`` a ` b ``", "<p><code> a ` b </code></p>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        (r"\*no emphasis\*", "<p>*no emphasis*</p>"),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ("[a `b`](c.md)", '<p><a href="/docs/c.md">a <code>b</code></a></p>'),
        ("[two\nlines](c.md#d)", '<p><a href="/docs/c.md#d">two lines</a></p>'),
        ('![a "b"](c.png)', '<p><img src="/docs/c.png" alt="a &quot;b&quot;"></p>'),
        ("`[no](link)`", "<p><code>[no](link)</code></p>"),
        ("- one\n  goes on\n- two", "<ul><li>one goes on</li><li>two</li></ul>"),
        ("1. one\n\n2. two", "<ol><li>one</li><li>two</li></ol>"),
        ("- one\n  - within\n- two", "<ul><li>one<ul><li>within</li></ul></li><li>two</li></ul>"),
        ("a:\n- one", "<p>a:</p>\n<ul><li>one</li></ul>"),
        ("> said\n> twice", "<blockquote><p>said twice</p></blockquote>"),
        ("<!-- gone -->\nstays", "<p>stays</p>"),
    ],
)
def test_blocks_and_spans(text: str, shown: str) -> None:
    assert html(text) == shown


def test_code_is_shown_as_it_is_written_even_within_a_list() -> None:
    text = "1. run\n\n   ```sh\n   # no heading\n     a < b\n   ```\n\n2. done"

    shown = html(text)

    assert '<pre tabindex="0" class="sh"><code># no heading\n  a &lt; b</code></pre>' in shown
    assert shown.count("<li>") == 2


def test_a_table_keeps_bars_that_are_escaped_and_cells_that_are_empty() -> None:
    shown = html("| a | b |\n|---|---|\n| `x \\| y` |  |")

    assert '<th scope="col">a</th><th scope="col">b</th>' in shown
    assert "<tr><td><code>x | y</code></td><td></td></tr>" in shown


def test_a_page_is_divided_at_its_headings_whose_anchors_are_unique() -> None:
    text = "# `tocsin up`, and *more*\n\nfirst\n\n## Same\n\n```\n# code\n```\n\n## Same\n\n### Below\n\nlast"

    found = sections(text, lambda _: None)

    assert [(section.rank, section.title, section.anchor) for section in found] == [
        (1, "tocsin up, and more", "tocsin-up-and-more"),
        (2, "Same", "same"),
        (2, "Same", "same-1"),
        (3, "Below", "below"),
    ]
    assert [section.words for section in found] == ["first", "# code", "", "last"]


def test_a_page_without_a_title_is_a_fault() -> None:
    with pytest.raises(ValueError, match="must begin with its title"):
        sections("no title", lambda _: None)


def test_links_of_the_markdown_are_replaced_but_for_those_in_code() -> None:
    text = "[a](one.md) `[b](two.md)` **[c](three.md)**\n\n```\n[d](four.md)\n```\n[e](gone.md)\n"

    now = relinked(text, lambda target: None if target == "gone.md" else f"/docs/{target}")

    assert list(links(text)) == [("a", "one.md"), ("c", "three.md"), ("e", "gone.md")]
    assert now == ("[a](/docs/one.md) `[b](two.md)` **[c](/docs/three.md)**\n\n```\n[d](four.md)\n```\ne\n")
    assert plain("**a** `b` [c](d)") == "a b c"
