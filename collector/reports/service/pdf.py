"""A report as PDF, by reportlab, which is the extra tocsin[pdf]."""

import importlib
import importlib.util
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Final

from collector.reports.core.content import Accounting, ReportContent, ReportMonitorLine
from collector.reports.core.spreadsheet import seconds, spent
from collector.reports.core.summary import number, percent, summary, verdict
from shared.errors import Conflict

MISSING: Final = "PDF needs reportlab on the collector: pip install 'tocsin[pdf]'"
# The library's own font knows Latin letters alone.
_SYSTEM_FONTS: Final = Path("/usr/share/fonts/truetype/dejavu")
_FONTS: Final = (
    (_SYSTEM_FONTS / "DejaVuSans.ttf", _SYSTEM_FONTS / "DejaVuSans-Bold.ttf"),
    (Path("Vera.ttf"), Path("VeraBd.ttf")),
)
_REGULAR: Final = "TocsinRegular"
_BOLD: Final = "TocsinBold"
_SIZE: Final = 8
_MARGIN: Final = 36
_LINE: Final = "#c8ced8"
_HEAD: Final = "#eef1f5"

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of a table: its head, its share of the width, and whether it holds numbers."""

    head: str
    share: float
    number: bool = True


_MONITORS: Final = (
    _Column("Monitor", 3, number=False),
    _Column("Uptime", 1),
    _Column("Business", 1),
    _Column("Before", 1),
    _Column("Target", 1, number=False),
    _Column("Incidents", 1),
    _Column("Outages", 1),
    _Column("Longest, s", 1.2),
    _Column("Checks", 1),
    _Column("Median, ms", 1.1),
    _Column("95th, ms", 1.1),
)
_TIMES: Final = (
    _Column("Seconds", 3, number=False),
    *(_Column(head, 1.2) for head in ("Period", "Up", "Down", "Maintenance", "Paused", "Unknown", "Uptime")),
)
_INCIDENTS: Final = (
    _Column("Incident", 3, number=False),
    _Column("Start", 1.8, number=False),
    _Column("Downtime, s", 1.1),
    _Column("Cause", 3, number=False),
    _Column("Note", 3, number=False),
)
_EXCLUDED: Final = (
    _Column("Window", 3, number=False),
    _Column("Start", 1.8, number=False),
    _Column("End", 1.8, number=False),
)


def is_available() -> bool:
    """Whether the library is installed."""
    return importlib.util.find_spec("reportlab") is not None


def written(content: ReportContent, edition: int) -> bytes:
    """Return the PDF of an edition. Slow: call it in a thread. Raises Conflict without reportlab."""
    if not is_available():
        raise Conflict(MISSING)
    register_fonts()
    file = io.BytesIO()
    platypus = importlib.import_module("reportlab.platypus")
    page_size = importlib.import_module("reportlab.lib.pagesizes")
    document = platypus.SimpleDocTemplate(
        file,
        pagesize=page_size.landscape(page_size.A4),
        title=content.name,
        author="Tocsin",
        invariant=True,
        **dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), _MARGIN),
    )
    document.build(
        list(_story(content, edition, _Drawing(platypus, document.width))),
        onFirstPage=_numbered,
        onLaterPages=_numbered,
    )
    return file.getvalue()


@cache
def register_fonts() -> None:
    """Make the first of the fonts that is there known to the library, once a process."""
    metrics = importlib.import_module("reportlab.pdfbase.pdfmetrics")
    fonts = importlib.import_module("reportlab.pdfbase.ttfonts")
    regular, bold = next(pair for pair in _FONTS if pair[0].is_file() or not pair[0].is_absolute())
    metrics.registerFont(fonts.TTFont(_REGULAR, str(regular)))
    metrics.registerFont(fonts.TTFont(_BOLD, str(bold)))
    metrics.registerFontFamily(_REGULAR, normal=_REGULAR, bold=_BOLD)


class _Drawing:
    """Makes the parts of the document; *width* is that of a line."""

    def __init__(self, platypus: Any, width: float) -> None:
        self._platypus = platypus
        self._width = width
        self._style = importlib.import_module("reportlab.lib.styles").ParagraphStyle

    def text(self, text: str, size: int = _SIZE, *, bold: bool = False, right: bool = False) -> Any:
        """A paragraph of plain text."""
        style = self._style(
            f"{size}{bold}{right}",
            fontName=_BOLD if bold else _REGULAR,
            fontSize=size,
            leading=size * 1.3,
            alignment=2 if right else 0,
            wordWrap="CJK" if not text.isascii() else None,
        )
        return self._platypus.Paragraph(escape(text), style)

    def space(self, height: int = 10) -> Any:
        return self._platypus.Spacer(1, height)

    def table(self, columns: Sequence[_Column], lines: Iterable[Cells]) -> Any:
        """A table whose head is repeated on each page."""
        head = [self.text(each.head, bold=True, right=each.number) for each in columns]
        rows = [
            [self.text(cell, right=each.number) for cell, each in zip(line, columns, strict=True)]
            for line in lines
        ]
        whole = sum(each.share for each in columns)
        table = self._platypus.Table(
            [head, *rows], colWidths=[self._width * each.share / whole for each in columns], repeatRows=1
        )
        table.setStyle(
            self._platypus.TableStyle(
                [
                    ("BACKGROUND", (0, 0), (-1, 0), _HEAD),
                    ("LINEBELOW", (0, 0), (-1, -1), 0.4, _LINE),
                    ("VALIGN", (0, 0), (-1, -1), "TOP"),
                    ("TOPPADDING", (0, 0), (-1, -1), 2),
                    ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
                ]
            )
        )
        return table


def _story(content: ReportContent, edition: int, draw: _Drawing) -> Iterable[Any]:
    yield draw.text(content.name, 16, bold=True)
    yield draw.space(4)
    ending = f" Edition {edition}." if edition > 1 else ""
    yield draw.text(f"{content.days}, {content.timezone}. {content.subject}.{ending}", 10)
    yield draw.space()
    yield draw.table((_Column("Summary", 1, number=False), _Column("", 3, number=False)), summary(content))
    yield from _titled(draw, "Monitors", _MONITORS, map(_monitor, content.monitors))
    yield from _titled(draw, "Incidents", _INCIDENTS, _incidents(content))
    excluded = [
        (each.name or "deleted window", _time(each.start), _time(each.end)) for each in content.excluded
    ]
    yield from _titled(draw, "Maintenance, left out of the uptime", _EXCLUDED, excluded)
    yield from _titled(
        draw, "How it was accounted for", _TIMES, _times(content, lambda line: line.time, content.time)
    )
    if content.business is not None:
        title = f"Within business hours: {content.business_hours}"
        yield from _titled(draw, title, _TIMES, _times(content, lambda line: line.business, content.business))
    yield draw.space()
    yield draw.text(
        "Uptime is up ÷ (up + down), rounded down to three decimals. Maintenance, pauses and time for which "
        "no result speaks count on neither side: the five add up to the period."
    )


def _titled(draw: _Drawing, title: str, columns: Sequence[_Column], lines: Iterable[Cells]) -> Iterable[Any]:
    shown = list(lines)
    if shown:
        yield draw.space()
        yield draw.text(title, 11, bold=True)
        yield draw.space(4)
        yield draw.table(columns, shown)


def _monitor(line: ReportMonitorLine) -> Cells:
    return (
        line.name,
        percent(line.time.uptime),
        percent(line.business.uptime if line.business else None),
        percent(line.uptime_before),
        verdict(line.met),
        str(line.incidents),
        str(line.outages),
        seconds(line.longest_ms),
        str(line.checks),
        number(line.p50_ms),
        number(line.p95_ms),
    )


def _incidents(content: ReportContent) -> Iterable[Cells]:
    for each in content.incidents:
        yield each.title, _time(each.started_at), str(each.downtime_s), each.cause or "", each.note or ""


def _times(
    content: ReportContent, time_of: Callable[[ReportMonitorLine], Accounting | None], total: Accounting
) -> Iterable[Cells]:
    for line in content.monitors:
        if (time := time_of(line)) is not None:
            yield line.name, *spent(time), percent(time.uptime)
    yield "All together", *spent(total), percent(total.uptime)


def _numbered(canvas: Any, document: Any) -> None:
    canvas.setFont(_REGULAR, 7)
    canvas.drawRightString(document.pagesize[0] - _MARGIN, _MARGIN / 2, str(canvas.getPageNumber()))


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
