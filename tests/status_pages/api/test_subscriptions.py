"""Subscribing to a status page: by a link that only a button uses up, and ending it by one click."""

import re
from collections.abc import AsyncIterator
from dataclasses import fields
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from collector.bootstrap import check_keys
from collector.ops.service import reseal
from collector.ops.service.reseal import ResealProgress
from collector.platform.mailer import Mailer
from collector.platform.seal import Keyring
from collector.status_pages.core import links as statuspage_links
from collector.status_pages.service import subscriptions
from collector.status_pages.web import words
from collector.status_pages.web.words import LANGUAGES
from shared.tokens import new_key
from tests.http.client import Answer, Api
from tests.http.fixtures import PUBLIC_URL
from tests.mailbox import Mailbox, mailbox
from tests.monitors.monitors import rows
from tests.status_pages.page_ground import SENDER, at_work, drained, mails

ADDRESS = "name@example.com"
LINK = re.compile(rf"{PUBLIC_URL}(/subscriptions/[0-9a-z_.]+(?:/[a-z]+)?)")


@pytest.fixture
async def box(api: Api) -> AsyncIterator[Mailbox]:
    async with mailbox() as opened:
        api.context.transport.mailer = Mailer(opened.url(), SENDER)
        yield opened


async def page(api: Api, **more: Any) -> dict[str, Any]:
    body = {"name": "Example", "slug": "example", "components": [{"name": "API"}, {"name": "Shop"}], **more}
    answer = await api.post("/v1/status-pages", body)
    assert answer.status == 201, answer.body
    made: dict[str, Any] = answer.json
    return made


async def sent(api: Api, path: str, fields: dict[str, Any] | None = None, **headers: str) -> Answer:
    """A form, as a browser sends it without any token."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    body = urlencode(fields or {}, doseq=True).encode()
    return await api.with_token(None).call("POST", path, body, headers=headers)


async def seen(api: Api, path: str, **headers: str) -> Answer:
    return await api.with_token(None).call("GET", path, headers=headers)


async def mailed(api: Api, box: Mailbox) -> None:
    async with at_work(mails(api.context.db, box.url(), keyring=api.context.keyring)):
        await drained(api.context.db)


async def link(api: Api, box: Mailbox, end: str) -> str:
    """The path in the last mail that ends so."""
    await mailed(api, box)
    found = [path for path in LINK.findall(box.mails[-1].part("plain")) if path.endswith(end)]
    return str(found[0])


async def subscribed(api: Api, box: Mailbox) -> str:
    """The path of the link that manages the subscription of somebody who has confirmed."""
    await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    path = await link(api, box, "/confirm")
    assert (await sent(api, path)).status == 200
    return (await link(api, box, "/unsubscribe")).removesuffix("/unsubscribe")


async def test_with_the_database_alone_nobody_can_make_a_link(api: Api, box: Mailbox) -> None:
    await page(api)
    good = (await subscribed(api, box)).rpartition("/")[2]

    [row] = await rows(api, "SELECT * FROM status_subscribers")
    keys = [value for value in row.values() if isinstance(value, bytes)]
    assert keys
    assert good not in [statuspage_links.managing(key, row["id"]) for key in keys]


@pytest.mark.oldest
async def test_links_in_mails_of_earlier_versions_work_before_and_after_their_keys_are_sealed(
    api: Api, box: Mailbox
) -> None:
    await page(api)
    await subscribed(api, box)
    db, keyring, key = api.context.db, api.context.keyring, bytes(range(32))
    await rows(api, "UPDATE status_subscribers SET link_key = $1, sealed_link_key = NULL", key)
    [row] = await rows(api, "SELECT id FROM status_subscribers")
    path = f"/subscriptions/{statuspage_links.managing(key, row['id'])}"
    assert (await seen(api, path)).status == 200

    newer = new_key()
    other = Keyring.parse(newer)
    both = Keyring(keys={**keyring.keys, **other.keys}, first=other.first)
    await check_keys(db, keyring, api.clock())
    assert await reseal.some(db, keyring) is ResealProgress.MORE
    [sealed] = await rows(api, "SELECT link_key, sealed_link_key FROM status_subscribers")
    assert sealed["link_key"] is None
    assert (await seen(api, path)).status == 200

    await check_keys(db, both, api.clock())
    while await reseal.some(db, both) is ResealProgress.MORE:
        pass
    subscription = await subscriptions.find(db, other, path.rpartition("/")[2], api.clock())
    assert subscription is not None
    assert subscription.email == ADDRESS


async def verified(api: Api, page_id: str) -> list[bool]:
    listed = (await api.get(f"/v1/status-pages/{page_id}/subscribers")).json["data"]
    return [item["verified"] for item in listed]


async def test_a_scanner_that_follows_the_link_confirms_nothing_and_the_button_does(
    api: Api, box: Mailbox
) -> None:
    made = await page(api)
    assert (await sent(api, "/status/example/subscribe", {"email": ADDRESS})).status == 200
    path = await link(api, box, "/confirm")

    for method in ("GET", "HEAD", "GET"):
        assert (await api.with_token(None).call(method, path)).status == 200
    assert await verified(api, made["id"]) == [False]
    answer = await seen(api, path)
    assert f'<form method="post" action="{path}"' in answer.body.decode()
    assert (await sent(api, path)).status == 200

    assert await verified(api, made["id"]) == [True]


async def test_the_form_is_there_in_the_looks_of_the_page(api: Api, box: Mailbox) -> None:
    await page(api)

    answer = await seen(api, "/status/example/subscribe")

    text = answer.body.decode()
    assert answer.status == 200
    assert 'action="/status/example/subscribe"' in text
    assert "/status/example/style.css" in text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_the_answer_is_the_same_for_known_and_unknown_addresses(api: Api, box: Mailbox) -> None:
    await page(api)
    await subscribed(api, box)

    known = await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    other = await sent(api, "/status/example/subscribe", {"email": "else@example.com"})

    assert known.status == other.status == 200
    assert known.body.replace(ADDRESS.encode(), b"") == other.body.replace(b"else@example.com", b"")


async def test_an_address_is_mailed_once_an_hour_at_most(api: Api, box: Mailbox) -> None:
    made = await page(api)
    path = f"/v1/status-pages/{made['id']}/subscribers"

    first = await api.post(path, {"email": ADDRESS})
    await sent(api, "/status/example/subscribe", {"email": "Name@EXAMPLE.com"})
    again = await api.post(path, {"email": ADDRESS})
    await mailed(api, box)

    assert (first.status, again.status, first.json["id"]) == (201, 201, again.json["id"])
    assert "warnings" not in first.json
    assert "an hour" in again.json["warnings"][0]
    assert len(box.mails) == 1
    api.clock.ahead = timedelta(minutes=61)
    await api.post(path, {"email": ADDRESS})
    await mailed(api, box)
    assert len(box.mails) == 2


async def test_a_link_confirms_for_48_hours(api: Api, box: Mailbox) -> None:
    made = await page(api)
    await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    path = await link(api, box, "/confirm")

    api.clock.ahead = timedelta(hours=48, seconds=1)

    assert b"has expired" in (await seen(api, path)).body
    assert b"has expired" in (await sent(api, path)).body
    assert await verified(api, made["id"]) == [False]


async def test_a_link_is_used_up_by_its_button(api: Api, box: Mailbox) -> None:
    made = await page(api)
    await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    path = await link(api, box, "/confirm")
    await sent(api, path)
    leave = await link(api, box, "/unsubscribe")
    assert (await sent(api, leave)).status == 200

    assert (await sent(api, path)).status == 404

    assert await verified(api, made["id"]) == []


@pytest.mark.parametrize("spoil", [lambda text: text[:-1], lambda text: text + "0", lambda text: text[::-1]])
async def test_a_link_that_was_not_signed_here_does_nothing(api: Api, box: Mailbox, spoil: Any) -> None:
    made = await page(api)
    await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    token = (await link(api, box, "/confirm")).split("/")[2]

    for end in ("/confirm", "", "/unsubscribe"):
        await sent(api, f"/subscriptions/{spoil(token)}{end}")
        # Nor does a sound one what it is not for.
        if end != "/confirm":
            await sent(api, f"/subscriptions/{token}{end}")

    assert await verified(api, made["id"]) == [False]


async def test_the_lasting_link_does_not_confirm(api: Api, box: Mailbox) -> None:
    made = await page(api)
    await sent(api, "/status/example/subscribe", {"email": ADDRESS})
    manage = (await link(api, box, "/unsubscribe")).removesuffix("/unsubscribe")

    assert (await sent(api, manage + "/confirm")).status == 404
    assert await verified(api, made["id"]) == [False]


async def test_one_click_ends_the_subscription_and_a_look_does_not(api: Api, box: Mailbox) -> None:
    made = await page(api)
    manage = await subscribed(api, box)

    assert (await seen(api, f"{manage}/unsubscribe")).status == 200
    assert await verified(api, made["id"]) == [True]
    for _ in range(2):
        answer = await sent(api, f"{manage}/unsubscribe", {"List-Unsubscribe": "One-Click"})
        assert answer.status == 200
    assert b"This subscription has ended" in answer.body

    assert await verified(api, made["id"]) == []


async def test_a_link_works_when_the_page_has_another_address(api: Api, box: Mailbox) -> None:
    made = await page(api)
    manage = await subscribed(api, box)

    await api.put(f"/v1/status-pages/{made['id']}", {"slug": "moved"})

    assert (await seen(api, manage)).status == 200
    assert (await sent(api, f"{manage}/unsubscribe")).status == 200
    assert await verified(api, made["id"]) == []


async def test_a_subscriber_chooses_what_to_hear_of(api: Api, box: Mailbox) -> None:
    made = await page(api)
    manage, shop = await subscribed(api, box), made["components"][1]["id"]
    assert (await seen(api, manage)).body.count(b" checked") == 2

    fields = {"maintenance": "on", "component": [shop, "comp_0123", "nonsense"]}
    answer = await sent(api, manage, fields)

    assert answer.status == 200
    assert b"Saved" in answer.body
    assert answer.body.count(b" checked") == 2
    [one] = (await api.get(f"/v1/status-pages/{made['id']}/subscribers")).json["data"]
    assert one["preferences"] == {"incidents": False, "maintenance": True}
    assert one["components"] == [shop]


@pytest.mark.parametrize(
    "email", ["", "nobody", "a@b@example.com", "a@example.com\nBcc: x@example.com", "x" * 300]
)
async def test_what_is_no_address_is_told_and_not_kept(api: Api, box: Mailbox, email: str) -> None:
    made = await page(api)

    answer = await sent(api, "/status/example/subscribe", {"email": email})

    assert answer.status == 400
    assert b"aria-invalid" in answer.body
    assert await verified(api, made["id"]) == []


async def test_markup_for_an_address_stays_text(api: Api, box: Mailbox) -> None:
    await page(api)

    answer = await sent(api, "/status/example/subscribe", {"email": '"><script>alert(1)</script>'})

    assert b"<script>alert" not in answer.body


async def test_who_asks_for_many_addresses_has_to_wait(api: Api, box: Mailbox) -> None:
    made = await page(api)
    codes = [
        (await sent(api, "/status/example/subscribe", {"email": f"name{number}@example.com"})).status
        for number in range(7)
    ]

    assert codes == [200] * 5 + [429] * 2
    assert await verified(api, made["id"]) == [False] * 5


async def test_a_private_page_is_subscribed_to_only_by_who_may_see_it(api: Api, box: Mailbox) -> None:
    made = await page(api, visibility="private", password="open sesame")

    assert (await seen(api, "/status/example/subscribe")).status == 401
    assert (await sent(api, "/status/example/subscribe", {"email": ADDRESS})).status == 401

    assert await verified(api, made["id"]) == []


async def test_without_a_mail_server_nobody_is_promised_a_mail(api: Api) -> None:
    made = await page(api)

    answer = await api.post(f"/v1/status-pages/{made['id']}/subscribers", {"email": ADDRESS})

    assert answer.status == 201
    assert "TOCSIN_SMTP_URL" in answer.json["warnings"][0]
    assert (await seen(api, "/status/example/subscribe")).status == 404
    assert (await sent(api, "/status/example/subscribe", {"email": ADDRESS})).status == 404


async def test_a_page_has_no_more_strangers_asked_than_it_should(
    api: Api, box: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MOST_ASKED", 2)
    made = await page(api)

    for number in range(4):
        answer = await sent(api, "/status/example/subscribe", {"email": f"name{number}@example.com"})
        assert answer.status == 200

    assert await verified(api, made["id"]) == [False, False]


@pytest.mark.parametrize("language", sorted(words.LANGUAGES))
def test_every_language_has_its_own_words_for_the_same_blanks(language: str) -> None:
    english, own = LANGUAGES["en"].subscription, LANGUAGES[language].subscription

    for field in fields(english):
        here, there = getattr(english, field.name), getattr(own, field.name)
        assert set(re.findall(r"{\w+}", here)) == set(re.findall(r"{\w+}", there)), field.name
        assert there.strip(), field.name
    assert language == "en" or own.confirm_mail != english.confirm_mail


async def test_a_visitor_is_answered_and_mailed_in_his_language(api: Api, box: Mailbox) -> None:
    made = await page(api)
    german = {"Accept-Language": "de-AT,de;q=0.9"}

    answer = await sent(api, "/status/example/subscribe", {"email": ADDRESS}, **german)
    confirm = await link(api, box, "/confirm")
    await sent(api, confirm)
    await api.post(
        f"/v1/status-pages/{made['id']}/incidents", {"title": "Shop", "message": "Wir sehen nach."}
    )
    await mailed(api, box)

    assert b'<html lang="de">' in answer.body
    first, second = box.mails
    assert first.message["Subject"] == "Bestätigen Sie Ihr Abonnement von Example"
    assert '<html lang="de">' in second.part("html")
    assert "Sie erhalten dies" in second.part("plain")
