"""Mails to addresses outside a team: tests are marked, so many an hour go out, strangers may confirm."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest

from collector.notifications.jobs.confirmations import Confirmations
from collector.notifications.service.outside_mails import OutsideMails
from collector.platform.mailer import Mailer
from collector.platform.transport import Transport
from tests.console.client import served, visiting
from tests.http.client import Api
from tests.mailbox import Mailbox, mailbox

PATH = "/v1/alert-channels"
SENDER = "Tocsin <tocsin@example.com>"
STRANGER, MEMBER = "stranger@example.org", "admin@example.com"
LINK = re.compile(r"/confirm/[\w-]+")


@dataclass(frozen=True, slots=True)
class Post:
    """A service with a mail server."""

    api: Api
    box: Mailbox
    mailer: Mailer

    async def channel(self, *recipients: str, **config: Any) -> dict[str, Any]:
        sent = {"recipients": recipients, **config}
        made = await self.api.post(PATH, {"name": "Ops", "type": "email", "config": sent})
        assert made.status == 201, made.body
        return dict(made.json)

    async def test(self, channel: dict[str, Any]) -> dict[str, Any]:
        return dict((await self.api.post(f"{PATH}/{channel['id']}/test")).json)

    def reached(self) -> list[str]:
        return [recipient for mail in self.box.mails for recipient in mail.recipients]


@asynccontextmanager
async def posting(api: Api, *, per_hour: int = 100, confirm: bool = False) -> AsyncIterator[Post]:
    plans = {name: replace(plan, mails_per_hour=per_hour) for name, plan in api.context.plans.items()}
    async with mailbox() as box:
        outside = OutsideMails(api.context.db, plans, confirm=confirm)
        mailer = Mailer(box.url(), SENDER, admit=outside.held, confirms=confirm)
        transport = Transport(allow_private=True, mailer=mailer)
        async with served(api, transport=transport) as url:
            yield Post(replace(api, url=url), box, mailer)
        await transport.close()


@pytest.mark.parametrize("templates", [{}, {"title": "Your account is locked"}, {"body": "Sign in at once"}])
async def test_a_test_is_marked_as_one_whatever_the_templates_say(
    api: Api, templates: dict[str, str]
) -> None:
    async with posting(api) as post:
        channel = await post.channel(STRANGER, templates=templates)
        assert (await post.test(channel))["success"] is True

        [mail] = post.box.mails
        assert str(mail.message["Subject"]).startswith("Test: ")
        for kind in ("plain", "html"):
            assert "This is a test of the alert channel Ops" in mail.part(kind)
        assert all(text in mail.part("plain") for text in templates.values())


async def test_above_the_mails_of_an_hour_strangers_wait_and_members_do_not(api: Api) -> None:
    async with posting(api, per_hour=3) as post:
        many = await post.channel(*(f"one{number}@example.org" for number in range(5)))
        own = await post.channel(MEMBER)

        first, again = await post.test(many), await post.test(many)

        assert len(post.reached()) == 3
        for told in (first, again):
            assert told["success"] is False
            assert "3 mails an hour to addresses outside the team are spent" in told["message"]
        assert (await post.test(own))["success"] is True
        other = await (replace(post, api=replace(post.api, token=(await api.other_team()).token))).channel(
            STRANGER
        )
        assert other


async def test_mails_at_once_do_not_pass_the_limit_between_them(api: Api) -> None:
    async with posting(api, per_hour=4) as post:
        channel = await post.channel(STRANGER)

        told = await asyncio.gather(*(post.test(channel) for _ in range(9)))

        assert sum(item["success"] for item in told) == len(post.reached()) == 4


async def test_the_bucket_fills_again_with_time(api: Api) -> None:
    async with posting(api, per_hour=2) as post:
        channel = await post.channel(STRANGER)
        assert [(await post.test(channel))["success"] for _ in range(3)] == [True, True, False]

        async with api.context.db.connection() as tx:
            await tx.execute("UPDATE rate_buckets SET at = at - interval '30 minutes'")

        assert [(await post.test(channel))["success"] for _ in range(2)] == [True, False]


async def test_an_address_outside_confirms_once_by_a_button_behind_a_link(api: Api) -> None:
    async with posting(api, confirm=True) as post:
        channel = await post.channel(STRANGER, MEMBER)
        here = f"{PATH}/{channel['id']}"
        alone = await post.channel(STRANGER)
        assert any(STRANGER in warning for warning in channel["warnings"])
        assert (await post.api.get(here)).json["unconfirmed"] == [STRANGER]

        told, refused = await post.test(channel), await post.test(alone)
        assert (told["success"], refused["success"]) == (True, False)
        assert f"{STRANGER} is outside the team and did not confirm yet" in told["message"]
        assert f"{STRANGER} is outside the team and did not confirm yet" in refused["message"]
        assert post.reached() == [MEMBER]

        confirmations = Confirmations(api.context.db, post.mailer, public_url="https://tocsin.example.com")
        await confirmations.turn()
        await confirmations.turn()
        assert post.reached() == [MEMBER, STRANGER]
        [link] = LINK.findall(post.box.mails[-1].part("plain"))

        async with visiting(post.api.url, post.api) as browser:
            asked = await browser.get(link)
            assert (STRANGER in asked.words, "Default" in asked.words) == (True, True)
            assert (await post.api.get(here)).json["unconfirmed"] == [STRANGER]
            assert "now receives the alerts" in (await browser.post(link)).words
            assert (await browser.get("/confirm/nonsense")).status == 404

        assert "unconfirmed" not in (await post.api.get(here)).json
        assert (await post.test(alone))["success"] is True
        assert post.reached()[-1] == STRANGER


@pytest.mark.oldest
async def test_a_confirmation_is_for_one_team(api: Api) -> None:
    other = await api.other_team()
    async with posting(api, confirm=True) as post:
        theirs = replace(post, api=replace(post.api, token=other.token))
        mine, foreign = await post.channel(STRANGER), await theirs.channel(STRANGER)
        await Confirmations(api.context.db, post.mailer, public_url="https://tocsin.example.com").turn()
        links = {str(mail.message["Subject"]): LINK.findall(mail.part("plain"))[0] for mail in post.box.mails}
        assert sorted(links) == ["Do you want alerts of Default?", "Do you want alerts of Other?"]

        async with visiting(post.api.url, post.api) as browser:
            await browser.get(links["Do you want alerts of Other?"])
            await browser.post(links["Do you want alerts of Other?"])

        assert (await theirs.test(foreign))["success"] is True
        assert (await post.test(mine))["success"] is False
