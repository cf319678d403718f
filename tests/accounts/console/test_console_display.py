"""Display settings of a user: time zone, clock, theme and density."""

import pytest
from yarl import URL

from tests.console.client import Console, visiting

pytestmark = [pytest.mark.oldest, pytest.mark.shares_server]

HERE = "/settings/account/display"
CHOSEN = {"timezone": "asia/kolkata", "clock": "12h", "theme": "dark", "density": "compact"}


async def test_they_hold_for_the_user_in_every_browser_and_for_nobody_else(console: Console) -> None:
    user = await console.person("viewer")
    await console.sign_in(user)
    await console.get("/settings/account")

    assert (await console.post(HERE, CHOSEN)).path == "/settings/account"

    async with visiting(console.url, console.api) as second, visiting(console.url, console.api) as other:
        await second.sign_in(user)
        shown = (await second.get("/")).text
        assert '<html lang="en" data-theme="dark" data-timezone="Asia/Kolkata" data-clock="12h"' in shown
        assert 'data-density="compact"' in shown
        await other.sign_in()
        assert '<html lang="en">' in (await other.get("/")).text


async def test_emptied_they_are_the_device_s_again(console: Console) -> None:
    await console.sign_in()
    await console.get("/settings/account")
    await console.post(HERE, CHOSEN)

    await console.post(HERE, {"timezone": "", "clock": "", "theme": "", "density": "comfortable"})

    assert '<html lang="en">' in (await console.get("/")).text


async def test_the_theme_that_is_saved_wins_over_an_older_switch_of_the_browser(console: Console) -> None:
    await console.sign_in()
    console.session.cookie_jar.update_cookies({"tocsin_theme": "light"}, URL(console.url))
    assert '<html lang="en" data-theme="light">' in (await console.get("/settings/account")).text

    await console.post(HERE, CHOSEN)

    assert '<html lang="en" data-theme="dark"' in (await console.get("/")).text


async def test_an_unknown_zone_is_refused_at_its_field_and_nothing_is_saved(console: Console) -> None:
    await console.sign_in()
    await console.get("/settings/account")

    page = await console.post(HERE, {**CHOSEN, "timezone": "Mars/Olympus"})

    assert page.status == 400
    assert "must be an IANA time zone, such as Europe/Berlin" in page.words
    assert 'value="Mars/Olympus"' in page.text
    assert '<html lang="en">' in (await console.get("/")).text


async def test_settings_of_a_later_version_are_left_alone(console: Console) -> None:
    await console.sign_in()
    async with console.api.context.db.transaction() as tx:
        await tx.execute("UPDATE users SET display = $1", {"clock": "12h", "font": "large"})

    assert 'data-clock="12h"' in (await console.get("/")).text
