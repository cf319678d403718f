"""An edition as PDF, read back by another library; without reportlab one line says what is missing."""

import io
import sys

import pytest
from pypdf import PdfReader

from tests.http.client import Api
from tests.reports.history import lived, reported

HOSTILE = "Größe Ελληνικά <b>&amp;</b> =1+1"


async def test_the_pdf_says_what_the_report_says(api: Api) -> None:
    known = await lived(api, HOSTILE)
    await lived(api, "Bank")
    content = await reported(
        api, {**known.body, "name": "Größe & <i>", "businessHours": "Mo-Su 08:00-18:00", "target": 99.9}
    )

    answer = await api.get(f"{content['path']}/pdf")

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/pdf")
    assert len(answer.body) < 200_000
    reader = PdfReader(io.BytesIO(answer.body))
    text = " ".join(page.extract_text() for page in reader.pages)
    words = " ".join(text.split())
    assert reader.metadata is not None
    assert reader.metadata.title == "Größe & <i>"
    for expected in ("Größe & <i>", "3600.000", "reached", "Rolled back", "172800.000", "All together"):
        assert expected in words
    assert "".join(HOSTILE.split()) in "".join(text.split())
    assert (await api.get(f"{content['path']}/pdf")).body == answer.body


async def test_a_collector_without_the_library_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    known = await lived(api)
    content = await reported(api, known.body)
    monkeypatch.setitem(sys.modules, "reportlab", None)

    answer = await api.get(f"{content['path']}/pdf")

    assert (answer.status, answer.json["message"]) == (
        409,
        "PDF needs reportlab on the collector: pip install 'tocsin[pdf]'",
    )
