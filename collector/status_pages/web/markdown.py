"""Writes Markdown of incident updates as HTML: text is escaped, links lead only to the web and to mail."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from collector.status_pages.core.markdown import BlockKind, Span, TextBlock, parse


def html(text: str) -> Markup:
    """Return the HTML of the text, each block in its own text direction."""
    return Markup("\n").join(_block(block) for block in parse(text))


def _block(block: TextBlock) -> Markup:
    match block.kind:
        case BlockKind.LIST:
            return Markup('<ul dir="auto">{}</ul>').format(_items(block))
        case BlockKind.NUMBERED:
            return Markup('<ol dir="auto" start="{}">{}</ol>').format(block.first, _items(block))
        case BlockKind.CODE:
            code = "\n".join("".join(span.text for span in line) for line in block.lines)
            # Long lines scroll: the keyboard reaches them too.
            return Markup('<pre tabindex="0" dir="ltr"><code>{}</code></pre>').format(code)
        case BlockKind.QUOTE:
            return Markup('<blockquote class="text" dir="auto">{}</blockquote>').format(_lines(block))
        case BlockKind.HEADING:
            # Headings of the page must keep their ranks, whatever a text contains.
            return Markup('<p class="text" dir="auto"><strong>{}</strong></p>').format(_lines(block))
        case BlockKind.PARAGRAPH:
            return Markup('<p class="text" dir="auto">{}</p>').format(_lines(block))


def _items(block: TextBlock) -> Markup:
    return Markup("").join(Markup('<li class="text">{}</li>').format(_line(item)) for item in block.lines)


def _lines(block: TextBlock) -> Markup:
    return Markup("\n").join(_line(line) for line in block.lines)


def _line(line: Sequence[Span]) -> Markup:
    return Markup("").join(_styled(line))


def _styled(line: Sequence[Span]) -> Iterator[Markup]:
    for span in line:
        text = escape(span.text)
        if span.code:
            text = Markup("<code>{}</code>").format(text)
        if span.href is not None:
            text = Markup('<a href="{}" rel="nofollow noopener noreferrer">{}</a>').format(span.href, text)
        if span.emphasis:
            text = Markup("<em>{}</em>").format(text)
        if span.strong:
            text = Markup("<strong>{}</strong>").format(text)
        yield text
