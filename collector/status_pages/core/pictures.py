"""Pictures of a status page uploaded as data URLs: raster images by their bytes, and sanitised SVG."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

MAX_BYTES: Final = 262_144
MAX_URL: Final = 350_000
SVG: Final = "image/svg+xml"
_DATA: Final = re.compile(r"data:(image/[a-z+.-]{1,20});base64,([A-Za-z0-9+/]+={0,2})")
# What the bytes of each type begin with.
_BEGINNINGS: Final[Mapping[str, re.Pattern[bytes]]] = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "image/x-icon": re.compile(rb"\x00\x00\x01\x00"),
}
_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_LINK: Final = "http://www.w3.org/1999/xlink href"
_DEEPEST: Final = 60
_ELEMENTS: Final = frozenset(
    [
        "svg",
        "g",
        "defs",
        "symbol",
        "use",
        "path",
        "rect",
        "circle",
        "ellipse",
        "line",
        "polyline",
        "polygon",
        "text",
        "tspan",
        "title",
        "desc",
        "linearGradient",
        "radialGradient",
        "stop",
        "clipPath",
        "mask",
    ]
)
_ATTRIBUTES: Final = frozenset(
    [
        "id",
        "class",
        "viewBox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "fx",
        "fy",
        "dx",
        "dy",
        "d",
        "points",
        "transform",
        "offset",
        "preserveAspectRatio",
        "gradientUnits",
        "gradientTransform",
        "spreadMethod",
        "clipPathUnits",
        "maskUnits",
        "pathLength",
        "fill",
        "fill-opacity",
        "fill-rule",
        "stroke",
        "stroke-width",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-opacity",
        "opacity",
        "color",
        "stop-color",
        "stop-opacity",
        "clip-path",
        "clip-rule",
        "mask",
        "display",
        "visibility",
        "font-family",
        "font-size",
        "font-weight",
        "font-style",
        "text-anchor",
        "letter-spacing",
        "dominant-baseline",
        "style",
    ]
)
_ELSEWHERE: Final = re.compile(r"url\(\s*[\"']?(?!#)|[\\@]|image-set|expression|src\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    """An uploaded picture: its media type, and its bytes as they are served."""

    type: str
    content: bytes

    @property
    def suffix(self) -> str:
        """The usual suffix of a file with it."""
        return {SVG: ".svg", "image/jpeg": ".jpg", "image/x-icon": ".ico"}.get(
            self.type, f".{self.type.removeprefix('image/')}"
        )


def is_data(url: str) -> bool:
    """Whether the URL contains its picture."""
    return url.startswith("data:")


def picture(url: str) -> Picture | None:
    """Read the picture of a data URL; None if it is none, is too large, or is not of its type."""
    parts = _DATA.fullmatch(url)
    if parts is None or len(url) > MAX_URL:
        return None
    try:
        content = base64.b64decode(parts[2], validate=True)
    except binascii.Error:
        return None
    if len(content) > MAX_BYTES:
        return None
    if parts[1] == SVG:
        clean = sanitised(content)
        return None if clean is None else Picture(SVG, clean)
    beginning = _BEGINNINGS.get(parts[1])
    return Picture(parts[1], content) if beginning and beginning.match(content) else None


def sanitised(svg: bytes) -> bytes | None:
    """Write SVG again with nothing but shapes, texts and colours; None if it is not well-formed SVG."""
    writer = _Writer()
    # Whatever encoding the document declares, what is written is UTF-8.
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    parser.StartDoctypeDeclHandler = writer.refuse
    try:
        parser.Parse(svg, True)
    except (expat.ExpatError, UnicodeDecodeError, _RefusedError):
        return None
    return "".join(writer.parts).encode() if writer.parts else None


class _RefusedError(Exception):
    """The document is not accepted in any form."""


@dataclass(slots=True)
class _Writer:
    """Writes what is allowed; *skipped*: how many open elements are within one that is not."""

    parts: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    skipped: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        allowed = namespace == _NAMESPACE and local in _ELEMENTS
        if not self.open and not self.skipped and local != "svg":
            self.refuse()
        if self.skipped or not allowed:
            self.skipped += 1
            return
        if len(self.open) >= _DEEPEST:
            self.refuse()
        root = "" if self.open else f' xmlns="{_NAMESPACE}"'
        self.open.append(local)
        self.parts.append(f"<{local}{root}{''.join(map(_attribute, *_kept(attributes)))}>")

    def end(self, name: str) -> None:
        del name
        if self.skipped:
            self.skipped -= 1
        else:
            self.parts.append(f"</{self.open.pop()}>")

    def text(self, text: str) -> None:
        if not self.skipped:
            self.parts.append(escape(text))

    def refuse(self, *_: object) -> None:
        raise _RefusedError


def _kept(attributes: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The names and values of the attributes that load and run nothing."""
    kept = {
        name: value
        for name, value in attributes.items()
        if name in _ATTRIBUTES and not _ELSEWHERE.search(value)
    }
    link = attributes.get("href", attributes.get(_LINK, ""))
    if link.startswith("#"):
        kept["href"] = link
    return list(kept), list(kept.values())


def _attribute(name: str, value: str) -> str:
    return f" {name}={quoteattr(value)}"
