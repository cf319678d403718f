"""Parses the Markdown of incident updates: a safe subset, in linear time, without HTML."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

_LINK: Final = r"https?://(?:[^\s()<>\"]|\([^\s()<>\"]*\))+"
_TOKEN: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`\n]+)`"
    rf"|\[(?P<label>[^\[\]\n]+)\]\((?P<target>{_LINK}|mailto:[^\s()<>\"]+)\)"
    rf"|<(?P<angled>{_LINK})>"
    r"|(?<![\w/])(?P<bare>https?://[^\s<>\"`]+)"
    r"|(?P<mark>\*\*|__|\*|_)"
)
_AFTER_A_LINK: Final = ".,;:!?'*_"
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")
_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|(?P<number>[0-9]{1,9})[.)])[ \t]+(?P<text>\S.*)")
_QUOTE: Final = re.compile(r" {0,3}> ?(?P<text>.*)")
_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(?P<text>\S.*)")


class BlockKind(StrEnum):
    """What a block of text is."""

    PARAGRAPH = "paragraph"
    HEADING = "heading"
    QUOTE = "quote"
    LIST = "list"
    NUMBERED = "numbered"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style; *href*: the URL that it links to."""

    text: str
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    href: str | None = None


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of *lines*; those of a list are its items, counted from *first* if they are numbered."""

    kind: BlockKind
    lines: Sequence[Sequence[Span]]
    first: int = 1


def parse(text: str) -> list[TextBlock]:
    """Parse Markdown into blocks. Any text is valid: unknown syntax stays as it was written."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    blocks: list[TextBlock] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip():
            at += 1
        elif fence := _FENCE.match(lines[at]):
            block, at = _code(lines, at + 1, fence[1])
            blocks.append(block)
        else:
            block, at = _block(lines, at)
            blocks.append(block)
    return blocks


def plain(text: str) -> str:
    """Return Markdown as plain text, for mails and feeds: links with their URLs, without marks."""
    return "\n\n".join("\n".join(_plain_lines(block)) for block in parse(text))


def spans(text: str) -> list[Span]:
    """Parse the inline syntax of a line: emphasis, code and links."""
    line: list[Span] = []
    # By mark: the place of its opening in *line*, where it stays as text unless it is closed.
    opened: dict[str, int] = {}
    after = 0
    for token in _TOKEN.finditer(text):
        if token.start() > after:
            line.append(Span(text[after : token.start()]))
        after = token.end()
        if mark := token["mark"]:
            _style(line, opened, mark, _sides(text, token))
        else:
            line.extend(_token(token))
    line.append(Span(text[after:]))
    return [span for span in line if span.text]


def _token(token: re.Match[str]) -> Iterator[Span]:
    if token["bare"]:
        yield from _bare(token["bare"])
    elif token["label"]:
        yield Span(token["label"], href=token["target"])
    elif token["angled"]:
        yield Span(token["angled"], href=token["angled"])
    elif token["code"]:
        yield Span(token["code"], code=True)
    else:
        yield Span(token["escaped"])


def _bare(url: str) -> Iterator[Span]:
    """A URL within a sentence, without the punctuation that follows it."""
    end = len(url)
    parens = url.count("(") - url.count(")")
    while end and (url[end - 1] in _AFTER_A_LINK or (url[end - 1] == ")" and parens < 0)):
        parens += url[end - 1] == ")"
        end -= 1
    yield Span(url[:end], href=url[:end])
    yield Span(url[end:])


def _sides(text: str, token: re.Match[str]) -> tuple[bool, bool]:
    """Whether a mark may open and may close: by the blanks around it, and ``_`` never within a word."""
    before = text[token.start() - 1] if token.start() else " "
    behind = text[token.end()] if token.end() < len(text) else " "
    opens, closes = not behind.isspace(), not before.isspace()
    if token[0][0] == "_":
        return opens and not before.isalnum(), closes and not behind.isalnum()
    return opens, closes


def _style(line: list[Span], opened: dict[str, int], mark: str, sides: tuple[bool, bool]) -> None:
    """Close *mark*, and style what is in it, or open it, or keep it as text."""
    opens, closes = sides
    if closes and mark in opened:
        start = opened.pop(mark)
        for later in [other for other, place in opened.items() if place > start]:
            del opened[later]
        strong = len(mark) == 2
        line[start] = Span("")
        for place in range(start, len(line)):
            span = line[place]
            line[place] = replace(span, strong=span.strong or strong, emphasis=span.emphasis or not strong)
        return
    if opens and mark not in opened:
        opened[mark] = len(line)
    line.append(Span(mark))


def _code(lines: Sequence[str], at: int, fence: str) -> tuple[TextBlock, int]:
    end = next((n for n in range(at, len(lines)) if lines[n].strip().startswith(fence)), len(lines))
    return TextBlock(BlockKind.CODE, [[Span(line, code=True)] for line in lines[at:end]]), end + 1


def _block(lines: Sequence[str], at: int) -> tuple[TextBlock, int]:
    """The block that begins at this line, and the number of the line after it."""
    kind, text, first = _line(lines[at])
    texts = [text]
    at += 1
    if kind is BlockKind.HEADING:
        return TextBlock(kind, [spans(text)]), at
    while at < len(lines) and lines[at].strip() and not _FENCE.match(lines[at]):
        next_, text, _ = _line(lines[at])
        if next_ is BlockKind.PARAGRAPH and kind in {BlockKind.LIST, BlockKind.NUMBERED}:
            texts[-1] += f"\n{text.strip()}"
        elif next_ is kind:
            texts.append(text)
        else:
            break
        at += 1
    if kind in {BlockKind.PARAGRAPH, BlockKind.QUOTE}:
        texts = ["\n".join(texts)]
    return TextBlock(kind, [spans(text) for text in texts], first), at


def _line(line: str) -> tuple[BlockKind, str, int]:
    """The kind of block that a line belongs to, its text, and its number in a list."""
    if item := _ITEM.fullmatch(line):
        number = item["number"]
        return (BlockKind.NUMBERED if number else BlockKind.LIST), item["text"], int(number or 1)
    if quote := _QUOTE.fullmatch(line):
        return BlockKind.QUOTE, quote["text"], 1
    if heading := _HEADING.fullmatch(line):
        return BlockKind.HEADING, heading["text"].rstrip("# \t") or heading["text"], 1
    return BlockKind.PARAGRAPH, line, 1


def _plain_lines(block: TextBlock) -> Iterator[str]:
    for number, line in enumerate(block.lines, start=block.first):
        text = "".join(_plain_span(span) for span in line)
        if block.kind is BlockKind.LIST:
            yield f"- {text}"
        elif block.kind is BlockKind.NUMBERED:
            yield f"{number}. {text}"
        elif block.kind is BlockKind.QUOTE:
            yield "\n".join(f"> {part}" for part in text.split("\n"))
        else:
            yield text


def _plain_span(span: Span) -> str:
    if span.href is None or span.text == span.href:
        return span.text
    return f"{span.text} ({span.href.removeprefix('mailto:')})"
