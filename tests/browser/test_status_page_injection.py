"""What an owner writes never runs, on any page, and never makes a visitor's browser ask elsewhere."""

from typing import Any, Final

import orjson
import pytest

from collector.status_pages.api import cache
from shared import ids
from tests.browser.visits import Visit, Visitors
from tests.http.client import Api
from tests.status_pages.api.test_status_pages import page

MARKUP: Final = (
    '"><img src=x onerror=alert(1)>',
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "' onmouseover='alert(1)' x='",
    '" autofocus onfocus=alert(1) x="',
    "{{ 'x' * 12 }}{% for x in () %}",
    "{name}{0}{0.__class__}",
    "\u2028alert(1)\u2029",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<!--<img src=http://evil.example.net/a>-->",
    "]]><script xmlns='http://www.w3.org/1999/xhtml'>alert(1)</script><![CDATA[",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<style>@import url(http://evil.example.net/a)</style>",
    "<link rel=stylesheet href=http://evil.example.net/a>",
    "<base href=http://evil.example.net/>",
    "<meta http-equiv=refresh content='0;url=http://evil.example.net/'>",
    "\u202ethgir ot tfel\u202c",
)
PAGES: Final = (
    "",
    "/history",
    "/widget",
    "/badge.svg",
    "/badge.svg?kind=uptime",
    "/icon.svg",
    "/feed.atom",
    ".json",
)
EVIL: Final = "http://evil.example.net/a"
CSS: Final = (
    f"@import '{EVIL}';",
    f"@import url({EVIL});",
    f"@\\69mport '{EVIL}';",
    f"body{{background:url({EVIL})}}",
    f"body{{background:URL( '{EVIL}' )}}",
    f"body{{background:u\\72l({EVIL})}}",
    f"body{{background:\\75\\72\\6c({EVIL})}}",
    f"body{{background:image-set('{EVIL}' 1x)}}",
    f"body{{background:-webkit-image-set(url({EVIL}) 1x)}}",
    f"body{{background:image('{EVIL}')}}",
    f"body{{background:src('{EVIL}')}}",
    f"body{{background:cross-fade(url({EVIL}), red)}}",
    f"body{{--x:url({EVIL});background:var(--x)}}",
    f"@property --x{{syntax:'<url>';inherits:true;initial-value:url({EVIL})}}body{{background:var(--x)}}",
    f"body{{cursor:url({EVIL}),auto}}",
    f"h1{{content:url({EVIL})}}",
    f"h1::before{{content:url('{EVIL}')}}",
    f"li{{list-style-image:url({EVIL})}}",
    f"li{{border-image-source:url({EVIL})}}",
    f"body{{mask:url({EVIL}#m)}}",
    f"body{{filter:url({EVIL}#f)}}",
    f"h1{{clip-path:url({EVIL}#c)}}",
    f"h1{{shape-outside:url({EVIL})}}",
    f"@font-face{{font-family:x;src:url({EVIL})}}body{{font-family:x}}",
    f"@namespace url({EVIL});",
    f"@document url({EVIL}){{h1{{color:red}}}}",
    f"@media all{{@import '{EVIL}';h1{{background:url({EVIL})}}}}",
    f"@supports (color:red){{h1{{background:url({EVIL})}}}}",
    f"h1{{background:url({EVIL}",
    f"h1{{color:red}}</style><img src={EVIL}>",
    f"/*</style>*/h1{{background:/**/url(/**/{EVIL})}}",
    "h1{width:expression(alert(1))}",
    "h1{behavior:url(x.htc)}",
    "h1{-moz-binding:url(x.xml#x)}",
    f"input[value^='a']{{background:url({EVIL})}}",
    f"h1{{background:\nurl(\n{EVIL}\n)}}",
    f"h1{{background:url(data:image/svg+xml,<svg onload=alert(1)>)}}h2{{background:url({EVIL})}}",
)


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FRESH_S", 0.0)


def harmless(visit: Visit) -> None:
    assert visit.dialogs == []
    assert visit.elsewhere == []


async def filled(api: Api) -> dict[str, Any]:
    """Every field of a page that takes text holds each of the payloads somewhere."""
    components = [
        {"name": text, "description": text, "group": text, "statusMessage": text} for text in MARKUP
    ]
    made = await page(api, name=" ".join(MARKUP)[:255], slug="example", components=components)
    affected = [component["id"] for component in made["components"]]
    for number, text in enumerate(MARKUP):
        severity = ("critical", "maintenance")[number % 2]
        body = {"title": text, "message": f"{text}\n\n{text}", "severity": severity}
        path = f"/v1/status-pages/{made['id']}/incidents"
        answer = await api.post(path, {**body, "affectedComponents": affected[: number + 1]})
        assert answer.status == 201, answer.body
    return made


async def test_text_is_text_on_every_page(api: Api, visitors: Visitors) -> None:
    await filled(api)
    for path in PAGES:
        visit = await visitors.visit(f"{api.url}/status/example{path}")

        harmless(visit)
        assert (
            await visit.page.locator("img, iframe, style, base, main script, [onerror], [onload]").count()
            == 0
        )
        assert await visit.page.locator("[onfocus], [onmouseover], a[href^='javascript']").count() == 0
        assert "x" * 12 not in await visit.page.content()
        if path in {"", "/history", "/widget"}:
            assert visit.faults == []


async def test_what_is_put_in_later_by_the_script_is_text_too(api: Api, visitors: Visitors) -> None:
    made = await page(api, slug="example")
    context = await visitors.context()
    await context.clock.install()
    visit = await visitors.visit(f"{api.url}/status/example", context)
    for text in MARKUP:
        await api.post(f"/v1/status-pages/{made['id']}/incidents", {"title": text, "message": text})

    await visit.page.clock.fast_forward(16_000)
    await visit.page.locator(".incident").nth(len(MARKUP) - 1).wait_for()

    harmless(visit)
    assert visit.faults == []
    assert await visit.page.locator("main script, img, iframe, [onerror]").count() == 0


async def test_no_stylesheet_asks_elsewhere(api: Api, visitors: Visitors) -> None:
    """Those that the API takes, and those that it does not, had somebody got past it."""
    made = await page(api, slug="example", components=[{"name": "Shop"}])
    url, taken = f"{api.url}/status/example", 0
    visit = await visitors.visit(url)
    for css in CSS:
        answer = await api.put(f"/v1/status-pages/{made['id']}", {"branding": {"customCss": css}})
        taken += answer.status == 200
        await _brand(api, made["id"], {"customCss": css})

        await visit.page.goto(url)

        harmless(visit)
        assert visit.refused == [], css
        assert EVIL.encode() not in (await api.get("/status/example/custom.css")).body
    assert taken < 3


async def _brand(api: Api, page_id: str, branding: dict[str, str]) -> None:
    async with api.context.db.transaction() as tx:
        await tx.execute(
            "UPDATE status_pages SET branding = $2 WHERE id = $1", ids.read("sp", page_id), branding
        )


@pytest.mark.parametrize(
    "branding",
    [
        {"logo": "javascript:alert(1)"},
        {"logo": 'https://a.example.net/"><script>alert(1)</script>'},
        {"logo": "https://a.example.net;script-src *;x/a.png"},
        {"logo": "data:text/html,<script>alert(1)</script>"},
        {"primaryColor": "red;}body{background:url(http://evil.example.net/a)"},
        {"primaryColor": "#fff}*{color:red"},
    ],
)
async def test_a_brand_brings_nothing_but_its_colour_and_its_logo(
    api: Api, visitors: Visitors, branding: dict[str, str]
) -> None:
    answer = await api.post("/v1/status-pages", {"name": "Example", "slug": "example", "branding": branding})
    if answer.status == 400:
        assert set(orjson.loads(answer.body)["details"]) == {f"branding.{name}" for name in branding}
        return

    visit = await visitors.visit(f"{api.url}/status/example")

    assert visit.dialogs == []
    assert all(url.startswith("https://a.example.net") for url in visit.elsewhere)
    policy = (await api.get("/status/example")).headers["Content-Security-Policy"]
    assert policy.count("script-src") == 1
