"""Without a network, and without a session: what a browser keeps, and what becomes of what was typed."""

from playwright.async_api import expect

from tests.browser.test_console_monitors import made, signed_in
from tests.browser.visits import Visit, Visitors
from tests.console.client import PASSWORD, served, visiting
from tests.http.client import Api

READY = (
    "async () => { await navigator.serviceWorker.ready; return Boolean(navigator.serviceWorker.controller) }"
)
KEPT = """async () => (await Promise.all((await caches.keys()).map(async (name) =>
    (await (await caches.open(name)).keys()).map((request) => new URL(request.url).pathname)))).flat()"""


async def forget_session(visit: Visit) -> None:
    await visit.page.context.clear_cookies()


async def test_offline_a_page_says_so_and_nothing_of_the_session_is_kept(
    api: Api, visitors: Visitors
) -> None:
    shop = await made(api, "Secret shop")
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.wait_for_function(READY)
        await visit.page.goto(f"{url}/monitors/{shop}")
        await visit.page.goto(f"{url}/monitors")

        kept = await visit.page.evaluate(KEPT)
        assert sorted(path.rpartition("/")[2] for path in kept) == ["bell.svg", "console.css", "offline"]
        await visit.page.context.set_offline(True)
        await visit.page.goto(f"{url}/monitors")
        await expect(visit.page.locator("h1")).to_have_text("Offline")
        assert "Secret shop" not in await visit.text()
        await visit.page.context.set_offline(False)
        await visit.page.click("text=Try again")
        await expect(visit.page.locator("h1")).to_have_text("Overview")


async def test_what_was_typed_survives_the_end_of_the_session(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        email = await visit.page.evaluate("fetch('/settings/account').then((answer) => answer.text())")
        address = next(word for word in email.split('"') if word.startswith("admin-") and "@" in word)
        await visit.page.goto(f"{url}/incidents/new")
        await visit.page.fill("[name=title]", "Checkout is slow")
        await visit.page.select_option("[name=severity]", "critical")
        await forget_session(visit)
        await visit.page.click("main button:has-text('Create incident')")
        await expect(visit.page.locator("h1")).to_have_text("Sign in")
        await expect(visit.page.locator(".flash")).to_contain_text("nothing was saved")
        await visit.page.fill("#email", address)
        await visit.page.fill("#password", PASSWORD)
        await visit.page.click("button:has-text('Sign in')")

        await expect(visit.page.locator("[name=title]")).to_have_value("Checkout is slow")
        await expect(visit.page.locator("[name=severity]")).to_have_value("critical")
        await expect(visit.page.locator(".flash")).to_contain_text("has not been sent yet")
        assert (await api.get("/v1/incidents")).json["data"] == []
        assert await visit.violations() == []
        await visit.page.click("main button:has-text('Create incident')")
        await expect(visit.page.locator("h1")).to_have_text("Checkout is slow")
        assert await visit.page.evaluate("sessionStorage.length") == 0


async def test_another_user_of_the_tab_is_shown_nothing_of_it(api: Api, visitors: Visitors) -> None:
    async with served(api) as url, visiting(url, api) as console:
        visit = await signed_in(url, console, visitors)
        await visit.page.goto(f"{url}/incidents/new")
        await visit.page.fill("[name=title]", "Ours alone")
        await forget_session(visit)
        await visit.page.click("main button:has-text('Create incident')")
        other = await console.person("editor")
        await visit.page.fill("#email", other.email)
        await visit.page.fill("#password", PASSWORD)
        await visit.page.click("button:has-text('Sign in')")

        await expect(visit.page.locator("h1")).to_have_text("New incident")
        await expect(visit.page.locator("[name=title]")).to_have_value("")
        assert await visit.page.evaluate("sessionStorage.length") == 0
