"""An acknowledgement is taken back by the message that confirms it, or on the incident's page."""

from tests.console.client import Console


async def test_the_message_undoes_it(console: Console) -> None:
    made = await console.api.post("/v1/incidents", {"title": "It is slow"})
    here = f"/incidents/{made.json['id']}"
    await console.sign_in()
    await console.get(here)

    page = await console.post(f"{here}/acknowledge")
    assert f'action="{here}/unacknowledge"' in page.text.partition("data-toast")[2].partition("</div>")[0]
    assert "Withdraw" in (await console.get(here)).words
    page = await console.post(f"{here}/unacknowledge")

    assert "Acknowledgement withdrawn: reminders and escalations go on." in page.words
    assert "unacknowledged Withdrawn by" in page.words
    assert (await console.api.get(f"/v1{here}")).json["status"] == "open"
    assert "only an acknowledgement is withdrawn" in (await console.post(f"{here}/unacknowledge")).words
