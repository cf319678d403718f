"""The console's reports: made by the form, computed, read as a page, and downloaded."""

import csv
import io
from typing import Any

import orjson
import pytest

from tests.console.client import Console
from tests.console.drawn import as_drawn
from tests.reports.history import lived, work

HERE = "/reports"
HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"


async def made(console: Console, body: dict[str, Any]) -> str:
    """The path of a new report's page."""
    answer = await console.api.post("/v1/reports", body)
    assert answer.status == 201, answer.body
    return f"{HERE}/{answer.json['id']}"


@pytest.mark.oldest
async def test_a_report_is_made_with_what_the_form_says(console: Console) -> None:
    await console.sign_in()
    assert "No reports" in (await console.get(HERE)).words
    fields = as_drawn((await console.get(f"{HERE}/new")).text, HERE)

    page = await console.post(
        HERE,
        {
            **fields,
            "name": "Quarterly",
            "period": "quarter",
            "timezone": "Europe/Berlin",
            "tags": "team:shop",
            "businessHours": "Mo-Fr 08:00-18:00",
            "target": "99.95",
            "recipients": "board@example.com",
        },
    )

    assert "Report created." in page.words
    [report] = (await console.api.get("/v1/reports")).json["data"]
    assert (report["period"], report["timezone"], report["target"]) == ("quarter", "Europe/Berlin", 99.95)
    assert (report["tags"], report["recipients"]) == (["team:shop"], ["board@example.com"])
    edit = f"{HERE}/{report['id']}/edit"
    fields = as_drawn((await console.get(edit)).text, HERE)
    assert (await console.post(edit, fields)).status == 200
    assert (await console.api.get(f"/v1/reports/{report['id']}")).json["revision"] == 1
    page = await console.post(edit, {**fields, "businessHours": "always"})
    assert (page.status, "must be like Mo-Fr 08:00-18:00" in page.words) == (400, True)


async def test_an_edition_is_computed_read_and_downloaded(console: Console) -> None:
    await console.sign_in()
    known = await lived(console.api, HOSTILE)
    report = await made(console, {**known.body, "enabled": False, "target": 99.9})

    page = await console.post(f"{report}/editions", {})
    assert "The edition is being computed" in page.words
    assert "pending" in page.words
    await work(console.api)

    id_ = report.rpartition("/")[2]
    [edition] = (await console.api.get(f"/v1/reports/{id_}/editions")).json["data"]
    path = f"{report}/editions/{edition['id']}"
    page = await console.get(path)
    assert page.status == 200
    assert HOSTILE not in page.text
    for words in ("missed", "Rolled back", "deleted window", "the five add up to the period", "3600.000"):
        assert words in page.words
    table = list(csv.reader(io.StringIO((await console.get(f"{path}/csv")).text)))
    assert (table[0][0], table[1][1]) == ("monitor", HOSTILE)
    shown = orjson.loads((await console.get(f"{path}/json")).text)
    assert shown == (await console.api.get(f"/v1{path}")).json


async def test_a_page_that_is_not_computed_leads_to_its_report(console: Console) -> None:
    await console.sign_in()
    report = await made(console, {"name": "Monthly"})
    await console.post(f"{report}/editions", {"day": "2026-01-05"})
    id_ = report.rpartition("/")[2]
    [edition] = (await console.api.get(f"/v1/reports/{id_}/editions")).json["data"]

    page = await console.get(f"{report}/editions/{edition['id']}")
    assert "not computed yet" in page.words
    page = await console.post(f"{report}/editions", {"day": "2090-01-05"})
    assert "Its period is not over" in page.words

    await console.post(f"{report}/delete", {})
    assert "No reports" in (await console.get(HERE)).words


async def test_a_viewer_reads_reports_and_changes_none(console: Console) -> None:
    report = await made(console, {"name": "Monthly"})
    await console.sign_in(await console.person("viewer"))

    page = await console.get(report)
    assert "Monthly" in page.words
    assert "Compute for that day" not in page.words
    assert (await console.post(f"{report}/editions", {})).status == 403
