"""``tocsin status-page export``: a copy that needs nobody behind it, made beside a database in use."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree as ET

import pytest

from collector.status_pages.cli import put
from tests.accounts.cli.test_access import tocsin
from tests.http.client import Api
from tests.http.fixtures import api, keyring, made, module_api, own_api, team
from tests.status_pages.api.test_status_pages import page
from tests.status_pages.core.test_pictures import PNG as PNG_BYTES
from tests.status_pages.core.test_pictures import data

__all__ = ["api", "keyring", "made", "module_api", "own_api", "team"]

LINK = re.compile(r'(?:href|src)="([^"]+)"')
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


async def example(api: Api, **more: Any) -> dict[str, Any]:
    made = await page(api, slug="example", components=[{"name": "Shop"}], **more)
    body = {
        "title": "Shop is gone",
        "message": "We look",
        "affectedComponents": [made["components"][0]["id"]],
    }
    await api.post(f"/v1/status-pages/{made['id']}/incidents", body)
    return made


async def export(url: str, *arguments: str | Path) -> tuple[int, str, str]:
    return await tocsin(url, "status-page", "export", *map(str, arguments))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_all_that_its_pages_link_to_is_beside_them(api: Api, database_url: str, tmp_path: Path) -> None:
    await example(api, branding={"customCss": "a{color:red}", "primaryColor": "#123"})
    folder = tmp_path / "site"

    code, out, words = await export(database_url, "example", folder, "--url", "https://status.example.org/")

    assert (code, words) == (0, ""), words
    files = contents(folder)
    assert f"{len(files)} files in {folder}" in out
    for name in ("index.html", "history.html", "widget.html"):
        text = files[name].decode()
        for link in LINK.findall(text):
            path = urljoin("/", link).partition("#")[0].lstrip("/") or "index.html"
            assert path in files, (name, link)
    assert b"Shop is gone" in files["index.html"]
    assert b"#112233" in files["style.css"]
    assert json.loads(files["status.json"])["url"] == "https://status.example.org"
    entry = ET.fromstring(files["feed.atom"]).find("{http://www.w3.org/2005/Atom}entry/{*}id")
    assert entry is not None
    assert str(entry.text).startswith("https://status.example.org/history.html#spi_")


async def test_a_copy_takes_the_place_of_the_one_before(api: Api, database_url: str, tmp_path: Path) -> None:
    made = await example(api)
    (tmp_path / "logo.PNG").write_bytes(PNG)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "robots.txt").write_text("of somebody else")
    await export(database_url, "example", tmp_path / "site")
    await api.put(f"/v1/status-pages/{made['id']}", {"name": "Another name"})

    code, _, text = await export(
        database_url, "example", tmp_path / "site", "--language", "de", "--logo", tmp_path / "logo.PNG"
    )

    assert code == 0, text
    files = contents(tmp_path / "site")
    index = files["index.html"].decode()
    assert '<html lang="de">' in index
    assert "Another name" in index
    assert 'src="./logo.png"' in index
    assert files["logo.png"] == PNG
    assert files["robots.txt"] == b"of somebody else"
    assert not [path for path in (tmp_path / "site").iterdir() if path.name.startswith(".")]


async def test_uploaded_pictures_are_files_of_the_copy(api: Api, database_url: str, tmp_path: Path) -> None:
    await example(api, branding={"logo": data(PNG_BYTES), "favicon": data(PNG_BYTES)})

    code, _, text = await export(database_url, "example", tmp_path / "site")

    assert code == 0, text
    files = contents(tmp_path / "site")
    assert files["logo.png"] == files["favicon.png"] == PNG_BYTES
    assert 'src="./logo.png"' in files["index.html"].decode()
    assert 'href="./favicon.png"' in files["index.html"].decode()


async def test_a_private_page_is_copied_only_where_that_is_meant(
    api: Api, database_url: str, tmp_path: Path
) -> None:
    await example(api, visibility="private", password="sesame")

    refused = await export(database_url, "example", tmp_path / "site")
    meant = await export(database_url, "example", tmp_path / "site", "--private")

    assert (refused[0], "--private" in refused[2]) == (1, True)
    assert meant[0] == 0
    assert b"sesame" not in b"".join(contents(tmp_path / "site").values())


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("nothing", "site"), 1, "there is no status page nothing"),
        (("No Slug", "site"), 1, "there is no status page No Slug"),
        (("example", "taken"), 1, "cannot be written"),
        (("example", "site", "--url", "javascript:alert(1)"), 2, "--url"),
        (("example", "site", "--logo", "absent.png"), 2, "--logo"),
        (("example", "site", "--logo", "logo.exe"), 2, "--logo"),
        (("example", "site", "--language", "xx"), 2, "--language"),
        (("example",), 2, "DIRECTORY"),
    ],
)
async def test_what_cannot_be_done_is_said_by_the_exit_status(
    api: Api, database_url: str, tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    await example(api)
    (tmp_path / "taken").write_text("a file")
    slug, *rest = arguments

    status, out, text = await export(
        database_url, slug, *(tmp_path / each if each in {"site", "taken"} else each for each in rest)
    )

    assert (status, out) == (code, "")
    assert says in text
    assert "Traceback" not in text
    assert not (tmp_path / "site").exists()


def test_what_fails_half_way_leaves_the_old_copy_as_it_was(tmp_path: Path) -> None:
    put(tmp_path, {"style.css": b"old", "index.html": b"old"})

    with pytest.raises(OSError, match=r"\S"):
        put(tmp_path, {"style.css": b"new", "x" * 300: b"a name that is too long", "index.html": b"new"})

    assert contents(tmp_path) == {"style.css": b"old", "index.html": b"old"}
