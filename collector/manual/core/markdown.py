"""Renders the Markdown that docs/ uses as HTML, in sections that begin with their headings."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import Final, TypeAlias

_FENCE: Final = re.compile(r"```(?P<language>\w*)$")
_HEADING: Final = re.compile(r"(?P<marks>#{1,6}) +(?P<text>.+)")
_ITEM: Final = re.compile(r"(?P<mark>[-*]|\d+\.) +(?=\S)")
_RULE_OF_TABLE: Final = re.compile(r"\|(?: *:?-+:? *\|)+")
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_COMMENT: Final = re.compile(r"<!--.*?-->")
_TAG: Final = re.compile(r"<[^>]*>")
_INLINE_TAG: Final = re.compile(r"</?(?:code|strong|em|a)\b[^>]*>")
_CODE_OR_LINK: Final = (
    r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)"
    r"|(?P<image>!)?\[(?P<label>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)"
)
_LINK: Final = re.compile(_CODE_OR_LINK, re.DOTALL)
_CODE_BLOCK: Final = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_INLINE: Final = re.compile(
    _CODE_OR_LINK + r"|\*\*(?P<strong>\S.*?)\*\*"
    r"|\*(?P<emphasis>\S.*?)\*"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])",
    re.DOTALL,
)
_COPY: Final = '<button type="button" class="plain small" data-copy hidden>Copy</button>'

Follow: TypeAlias = Callable[[str], str | None]
"""Returns the address of a link's target; None where it leads to nothing that is shown."""


@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading with what follows it, up to the next one; *rank* is 1 for the page's title."""

    rank: int
    title: str
    anchor: str
    html: str

    @property
    def words(self) -> str:
        """The text of the section without its heading and without markup."""
        _, _, body = self.html.partition(f"</h{self.rank}>")
        return " ".join(unescape(_TAG.sub(" ", _INLINE_TAG.sub("", body.replace(_COPY, "")))).split())


def sections(text: str, follow: Follow) -> list[PageSection]:
    """Render a page. It must begin with its title. Raises ValueError if it does not."""
    lines = _COMMENT.sub("", text).strip("\n").split("\n")
    if not _HEADING.fullmatch(lines[0]):
        raise ValueError(f"a page must begin with its title, not with {lines[0]!r}")
    rendered: list[PageSection] = []
    used: set[str] = set()
    for heading, body in _divided(lines):
        title = plain(heading["text"])
        anchor = _unused(slug(heading["text"]), used)
        rank = len(heading["marks"])
        head = f'<h{rank} id="{escape(anchor)}">{_inline(heading["text"], follow)}</h{rank}>'
        rendered.append(PageSection(rank, title, anchor, "\n".join((head, *_blocks(body, follow)))))
    return rendered


def slug(heading: str) -> str:
    """Return the anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def plain(text: str) -> str:
    """Return a line without its markup."""
    return unescape(_TAG.sub("", _inline(text, lambda _: None)))


def links(text: str) -> Iterator[tuple[str, str]]:
    """Yield label and target of each link of a page, those within code left out."""
    for part in _CODE_BLOCK.split(text)[::2]:
        for match in _LINK.finditer(part):
            if match["target"] and not match["image"]:
                yield plain(" ".join(match["label"].split())), match["target"]


def relinked(text: str, follow: Follow) -> str:
    """Return the Markdown with each link's target replaced; where it leads nowhere the label alone stays."""

    def link(match: re.Match[str]) -> str:
        if not match["target"]:
            return match[0]
        target = follow(match["target"])
        return match["label"] if target is None else f"{match['image'] or ''}[{match['label']}]({target})"

    parts = _CODE_BLOCK.split(text)
    parts[::2] = [_LINK.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def _divided(lines: Sequence[str]) -> Iterator[tuple[re.Match[str], list[str]]]:
    """Yield each heading with the lines below it."""
    heading: re.Match[str] | None = None
    body: list[str] = []
    within_code = False
    for line in lines:
        within_code ^= line.startswith("```")
        next_ = None if within_code else _HEADING.fullmatch(line)
        if next_ is None:
            body.append(line)
            continue
        if heading is not None:
            yield heading, body
        heading, body = next_, []
    if heading is not None:
        yield heading, body


def _unused(anchor: str, used: set[str]) -> str:
    number, unused = 0, anchor
    while unused in used:
        number += 1
        unused = f"{anchor}-{number}"
    used.add(unused)
    return unused


def _blocks(lines: Sequence[str], follow: Follow) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        if fence := _FENCE.match(line):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines))
            yield _code(lines[at + 1 : end], fence["language"])
            at = end + 1
            continue
        end = _end(lines, at)
        yield _block(lines[at:end], follow)
        at = end


def _end(lines: Sequence[str], at: int) -> int:
    """Return the number of the line after the block that begins at *at* and is no code."""
    listed = _ITEM.match(lines[at]) is not None
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if not line.strip():
            # A list goes on after an empty line with another item, or with what belongs to the last one.
            behind = next((after for after in lines[end:] if after.strip()), "")
            if not listed or not (behind.startswith("  ") or _ITEM.match(behind)):
                return end
        elif line.startswith("```") or (not listed and _ITEM.match(line)):
            return end
        end += 1
    return end


def _block(lines: Sequence[str], follow: Follow) -> str:
    if _ITEM.match(lines[0]):
        return _list(lines, follow)
    if len(lines) > 1 and _RULE_OF_TABLE.fullmatch(lines[1].strip()):
        return _table(lines, follow)
    if lines[0].startswith(">"):
        quoted = [line.removeprefix(">").removeprefix(" ") for line in lines]
        return f"<blockquote>{''.join(_blocks(quoted, follow))}</blockquote>"
    return f"<p>{_inline(' '.join(line.strip() for line in lines), follow)}</p>"


def _list(lines: Sequence[str], follow: Follow) -> str:
    numbered = lines[0][0].isdigit()
    items: list[list[str]] = []
    indent = 0
    for line in lines:
        if item := _ITEM.match(line):
            indent = item.end()
            items.append([line[indent:]])
        else:
            own = min(indent, len(line) - len(line.lstrip()))
            items[-1].append(line[own:])
    name = "ol" if numbered else "ul"
    return f"<{name}>{''.join(f'<li>{_item(item, follow)}</li>' for item in items)}</{name}>"


def _item(lines: Sequence[str], follow: Follow) -> str:
    """Render an item; one that is a single paragraph stands without its tags."""
    blocks = list(_blocks(lines, follow))
    first = blocks[0].removeprefix("<p>").removesuffix("</p>") if blocks[0].startswith("<p>") else blocks[0]
    return "".join((first, *blocks[1:]))


def _table(lines: Sequence[str], follow: Follow) -> str:
    head, *rows = [_cells(line) for number, line in enumerate(lines) if number != 1]
    titles = "".join(f'<th scope="col">{_inline(cell, follow)}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{_inline(cell, follow)}</td>' for cell in row)}</tr>" for row in rows)
    # Wide tables scroll: the keyboard reaches them, too.
    return (
        '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells(line: str) -> list[str]:
    cells = _CELL_END.split(line.strip())[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _code(lines: Sequence[str], language: str) -> str:
    text = escape("\n".join(lines), quote=False)
    name = f' class="{language}"' if language else ""
    return f'<div class="sample">{_COPY}<pre tabindex="0"{name}><code>{text}</code></pre></div>'


def _inline(text: str, follow: Follow) -> str:
    parts: list[str] = []
    after = 0
    for match in _INLINE.finditer(text):
        parts += [escape(text[after : match.start()], quote=False), _span(match, follow)]
        after = match.end()
    return "".join((*parts, escape(text[after:], quote=False)))


def _span(match: re.Match[str], follow: Follow) -> str:
    if code := match["code"]:
        return f"<code>{escape(code, quote=False)}</code>"
    if strong := match["strong"]:
        return f"<strong>{_inline(strong, follow)}</strong>"
    if emphasis := match["emphasis"]:
        return f"<em>{_inline(emphasis, follow)}</em>"
    if escaped := match["escaped"]:
        return escape(escaped, quote=False)
    target = follow(match["target"])
    if match["image"]:
        return f'<img src="{escape(target)}" alt="{escape(match["label"])}">' if target else ""
    label = _inline(match["label"], follow)
    return label if target is None else f'<a href="{escape(target)}">{label}</a>'
