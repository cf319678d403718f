"""Uploaded pictures: raster images are what their bytes say, and SVG keeps nothing that loads or runs."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.status_pages.core.pictures import MAX_BYTES, picture, sanitised

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
OPENED = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
ENTITIES = f"<!DOCTYPE svg [<!ENTITY a 'b'>]>{OPENED}&a;</svg>"
DEEP = OPENED + "<g>" * 99 + "</g>" * 99 + "</svg>"


def data(content: bytes, type_: str = "image/png") -> str:
    return f"data:{type_};base64,{b64encode(content).decode()}"


def inside(text: str) -> str:
    """What is left of *text* within an SVG element."""
    clean = sanitised(f"{OPENED}{text}</svg>".encode())
    assert clean is not None
    return clean.decode().removeprefix('<svg xmlns="http://www.w3.org/2000/svg">').removesuffix("</svg>")


def test_a_raster_image_is_kept_as_it_is() -> None:
    for content, type_ in (
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x0a\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x01\x00\x01", "image/x-icon"),
    ):
        uploaded = picture(data(content, type_))
        assert uploaded is not None
        assert (uploaded.type, uploaded.content) == (type_, content)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(data(b"<html>"), id="other bytes"),
        pytest.param(data(PNG, "image/jpeg"), id="another type"),
        pytest.param(data(PNG, "text/html"), id="no picture"),
        pytest.param(data(PNG + bytes(MAX_BYTES)), id="too large"),
        pytest.param("data:image/png;base64,", id="empty"),
        pytest.param("data:image/png;base64,AAA", id="not base64"),
        pytest.param("data:image/png,abc", id="not in base64"),
        pytest.param(data(b"<svg>", "image/svg+xml"), id="not well-formed"),
        pytest.param(data(b"<svg/>", "image/svg+xml"), id="of no namespace"),
        pytest.param(data(f"<a>{OPENED}</svg></a>".encode(), "image/svg+xml"), id="another root"),
        pytest.param(
            data(f"<!DOCTYPE svg [<!ENTITY a 'b'>]>{OPENED}&a;</svg>".encode(), "image/svg+xml"), id="dtd"
        ),
        pytest.param(data(f"{OPENED}\xff</svg>".encode("latin-1"), "image/svg+xml"), id="not UTF-8"),
        pytest.param(
            data((OPENED + "<g>" * 99 + "</g>" * 99 + "</svg>").encode(), "image/svg+xml"), id="deep"
        ),
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    assert picture(url) is None


def test_svg_of_any_encoding_is_written_as_utf_8() -> None:
    text = f"{OPENED}<text>é</text></svg>"

    assert sanitised(text.encode("utf-16")) == sanitised(text.encode())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('<path d="M0 0" fill="#fff"/>', '<path d="M0 0" fill="#fff"></path>'),
        ("<script>alert(1)</script><g/>", "<g></g>"),
        ("<foreignObject><g/><body xmlns='http://www.w3.org/1999/xhtml'/></foreignObject>", ""),
        ('<g onload="alert(1)" id="a"/>', '<g id="a"></g>'),
        ('<image href="https://example.com/a"/>', ""),
        ('<use href="https://example.com/a#b"/>', "<use></use>"),
        ('<use xlink:href="#b"/>', '<use href="#b"></use>'),
        ('<rect fill="url(#a)"/>', '<rect fill="url(#a)"></rect>'),
        ('<rect fill="url(https://example.com/a)"/>', "<rect></rect>"),
        ("<rect style=\"fill:url('https://example.com')\"/>", "<rect></rect>"),
        ('<rect style="fill:u\\72l(//example.com)"/>', "<rect></rect>"),
        ('<rect style="fill:red"/>', '<rect style="fill:red"></rect>'),
        ("<style>@import 'https://example.com'</style>", ""),
        ('<a href="javascript:alert(1)"><text>a</text></a>', ""),
        ("<animate attributeName='href'/><set/>", ""),
        ("<text>&lt;b&gt; &amp; <![CDATA[<i>]]></text>", "<text>&lt;b&gt; &amp; &lt;i&gt;</text>"),
        ("<?xml-stylesheet href='a'?><!-- a -->", ""),
    ],
)
def test_svg_keeps_shapes_and_colours_alone(text: str, left: str) -> None:
    assert inside(text) == left


@given(st.text(max_size=60))
def test_what_is_written_can_be_read_again_and_stays(text: str) -> None:
    clean = sanitised(f"{OPENED}{text}</svg>".encode("utf-8", "replace"))

    assert clean is None or sanitised(clean) == clean
