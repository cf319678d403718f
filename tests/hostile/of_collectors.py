"""What senders, receivers, visitors and teams give to collectors: its parsers."""

import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final
from uuid import UUID

import orjson
import tinycss2
from jinja2 import TemplateError
from joserfc.errors import SecurityWarning

from collector.accounts.service import id_tokens
from collector.declarative.cli import yaml
from collector.heartbeats.core import times as cron
from collector.heartbeats.ingest import clean_body
from collector.http import request_data
from collector.maintenance.core import recurrence, recurrence_times
from collector.metrics.ingest import otlp, remote_write, wire
from collector.metrics.ingest import series as receivers
from collector.metrics.ingest.series import ReceiverState, SeriesPush
from collector.notifications.channels import _http as provider
from collector.notifications.channels import _language as language
from collector.notifications.channels import opsgenie, pagerduty, slack, telegram, texts
from collector.platform.delivery import Undelivered
from collector.platform.transport import HttpAnswer
from collector.status_pages.core import colour, links, markdown, pictures, style
from collector.status_pages.web import markdown as web_markdown
from shared.errors import BodyTooLarge, Invalid
from shared.kinds.opentelemetry import OpenTelemetry
from shared.kinds.prometheus import Prometheus
from tests.hostile.fuzzing import Parser
from tests.hostile.of_probes import text_of
from tests.remote_write import first, named, part, second

NOW: Final = datetime(2026, 11, 25, 12, tzinfo=UTC)
NOW_MS: Final = int(NOW.timestamp() * 1000)
TAGS: Final = re.compile(r"</?(?:p|strong|em|a|ul|ol|li|code|pre|blockquote|br)(?: [a-z]+=\"[^\"<>]*\")*>")
NAMES: Final = texts.NAMES
KNOWN: Final = {
    **dict.fromkeys(NAMES, "text"),
    "monitor": {"name": "Shop", "tags": ["a", "b"], "interval": 60},
    "facts": [{"label": "Since", "value": "now"}] * 3,
}


async def first_protocol(data: bytes) -> None:
    state = ReceiverState(1, UUID(int=1), 1, 60, 1, Prometheus())
    remote_write.unpacked_size(data)
    await remote_write.take_v1(remote_write.unpack(data), SeriesPush(state, NOW))


async def second_protocol(data: bytes) -> None:
    state = ReceiverState(1, UUID(int=1), 1, 60, 1, Prometheus())
    await remote_write.take_v2(data, SeriesPush(state, NOW))


async def otlp_protobuf(data: bytes) -> None:
    await otlp.take(data, SeriesPush(ReceiverState(1, UUID(int=1), 1, 60, 1, OpenTelemetry()), NOW))


async def otlp_json(data: bytes) -> None:
    await otlp_protobuf(otlp.from_json(data))


def template(data: bytes) -> None:
    source, environment = text_of(data), language.environment()
    if language.fault(environment, source, NAMES) is None:
        with suppress(*RENDERING):
            for size, piece in enumerate(language.compiled(environment, source).generate(KNOWN)):
                assert " at 0x" not in piece
                if size > texts.MAX_BODY:
                    break


RENDERING: Final = (
    TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError,
)  # fmt: skip


def recurs(data: bytes) -> None:
    rule = recurrence.parse(text_of(data))
    start = datetime(2026, 1, 31, 2, 30)  # noqa: DTZ001 - rules follow the clocks of a place
    coming = list(islice(recurrence_times.times(rule, start, start + timedelta(days=400)), 100))
    assert coming == sorted(coming)


def scheduled(data: bytes) -> None:
    expression = text_of(data)
    if cron.fault(expression) is None:
        for zone in ("UTC", "America/St_Johns", "Africa/Casablanca"):
            assert cron.following(expression, zone, NOW) > NOW


def drawn(data: bytes) -> None:
    """SVG: what is written is the same when it is read again, and runs and loads nothing."""
    clean = pictures.sanitised(data)
    if clean is not None:
        assert pictures.sanitised(clean) == clean
        assert not re.search(rb"<script|<foreignObject|<image|<style|\son\w+=|href=\"[^#]", clean)


def uploaded(data: bytes) -> None:
    picture = pictures.picture(text_of(data))
    assert picture is None or (len(picture.content) <= pictures.MAX_URL and picture.suffix.startswith("."))


def styled(data: bytes) -> None:
    text = text_of(data)
    sound, clean = style.is_stylesheet(text), style.cleaned(text)
    assert "<" not in clean
    if sound:
        assert style.is_stylesheet(clean)
    for token in tinycss2.parse_component_value_list(clean):
        assert token.type != "url"


def marked(data: bytes) -> None:
    text = text_of(data)
    html = str(web_markdown.html(text))
    assert not re.search(r"[<>]", TAGS.sub("", html))
    assert not re.search(r'href="(?!https?://|mailto:)', html)
    markdown.plain(text)


def of_requests(data: bytes) -> None:
    """Moments, links of mails, colours, bodies of pings."""
    text = text_of(data)
    links.read(text)
    for end in (True, False):
        moment = request_data.moment(text, end=end)
        assert moment is None or moment.tzinfo is UTC
    assert "\0" not in clean_body(data)


def identity(data: bytes) -> None:
    """A token of a provider of identities, and after NUL its keys."""
    token, _, keys = data.partition(b"\0")
    known = orjson.loads(keys)
    if not isinstance(known, dict):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # of short keys
        assert id_tokens.verified(text_of(token), known) is None


REASONS: Final = (
    lambda answer: answer["message"],
    lambda answer: answer["description"],
    slack._reason,
    pagerduty._reason,
)
WAITS: Final = (
    lambda answer: provider.number(answer["retry_after"]),
    lambda answer: provider.number(answer["parameters"]["retry_after"]),
)


def refused(data: bytes) -> None:
    """The answer of a provider of messages."""
    answer = HttpAnswer(429, None, data)
    for reason in REASONS:
        for wait in WAITS:
            with suppress(Undelivered):
                provider.accepted(answer, secrets=["secret"], reason=reason, retry_after=wait)


METRIC: Final = (
    b'{"resourceMetrics":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"b"}}]},"scopeMetrics":'
    b'[{"metrics":[{"name":"m","gauge":{"dataPoints":[{"asDouble":1.5,"timeUnixNano":"%d"}]}},'
    b'{"name":"s","sum":{"dataPoints":[{"asInt":"5","timeUnixNano":"%d","attributes":[{"key":"k","value":'
    b'{"arrayValue":{"values":[{"boolValue":true}]}}}]}]}}]}]}]}' % (NOW_MS * 10**6, NOW_MS * 10**6)
)
POINTS: Final = ((named("up", job="a"), NOW_MS, 1.0), (named("down"), NOW_MS - 5, 2.0))
_METRICS: Final = (wire, remote_write, otlp, receivers)
_REFUSALS: Final = (Invalid, BodyTooLarge)
KEYS: Final = (
    b'{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"one"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}'
)
TEXT: Final = (
    b"# Title\n\n- **bold** [a](https://example.com/x_(y)) `code`\n> quote <https://example.com>\n\n"
    b"```\nx\n```\n3. *it_s_*"
)
SVG: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
    b'<title>a&amp;b</title><g fill="url(#a)"><path d="M0 0"/><use xlink:href="#a"/></g></svg>'
)
PARSERS: Final[Mapping[str, Parser]] = {
    "remote write, snappy": Parser(
        first_protocol,
        [first(*POINTS)],
        _METRICS,
        _REFUSALS,
        [b"\x0a\x04", b"\x12\x10", b"\xff\xff\xff\xff\x0f"],
    ),
    "remote write 2.0": Parser(
        second_protocol,
        [remote_write.unpack(second(*POINTS))],
        _METRICS,
        _REFUSALS,
        [part(4, b""), part(4, b"__name__"), part(5, b"\x0a\x02\x01\x02"), b"\x2a", b"\x22"],
    ),
    "OTLP": Parser(
        otlp_protobuf,
        [otlp.from_json(METRIC)],
        _METRICS,
        _REFUSALS,
        [part(1, b""), part(2, b""), b"\x0a", b"\x12", b"\x19" + bytes(8), b"\x3a\x04"],
    ),
    "OTLP in JSON": Parser(
        otlp_json,
        [METRIC],
        _METRICS,
        _REFUSALS,
        [
            b"[",
            b"{",
            b'"asDouble":"NaN"',
            b'"histogram":{"dataPoints":[{"count":"1"}]}',
            b'{"kvlistValue":',
            b"\\ud800",
            b'"key":',
        ],
    ),
    "templates": Parser(
        template,
        [
            b"{{ monitor.name | upper }}: {{ error or 'fine' }}{% for f in facts %}{{ f.label }}{% endfor %}",
            b"{{ facts[-1]['value'] | default('x') | truncate(3) }} {{ monitor.tags | join(', ') ~ since }}",
        ],
        [language],
        (),
        [
            b"{{",
            b"}}",
            b"{%",
            b"%}",
            b"|first",
            b"|length",
            b"|truncate(",
            b"[1:",
            b"]",
            b"(",
            b" if ",
            b" in ",
            b"-",
            b"~",
            b"__class__",
            b"not ",
        ],
        slowest_s=0.5,
    ),
    "YAML": Parser(
        lambda data: yaml.parse(text_of(data)),
        [
            b"monitors:\n  - key: a\n    name: &x yes\n    type: tcp\n    config: {host: *x, port: 1}\n",
            b"a: |\n  text\n<<: [{b: 1}, {c: 0x1}]\n---\n- !!set\n",
        ],
        [yaml],
        (),
        [
            b"&a ",
            b"*a",
            b"<<: ",
            b"- ",
            b"? ",
            b": ",
            b"{",
            b"[",
            b"!!python/object:os.system ",
            b"---\n",
            b"...\n",
            b"|",
            b"\n  ",
            b"%YAML 9.9\n",
            b"\t",
        ],
    ),
    "RRULE": Parser(
        recurs,
        [
            b"FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=2,3;BYMINUTE=0,30;COUNT=5",
            b"RRULE:FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1,-1;UNTIL=20301231T000000Z;WKST=SU",
            b"FREQ=HOURLY;INTERVAL=8784;BYSETPOS=-1;BYMONTH=2;BYMONTHDAY=29",
        ],
        [recurrence, recurrence_times],
        (recurrence.BadRule,),
        [
            b";BYDAY=",
            b";BYMONTHDAY=31",
            b";BYYEARDAY=366",
            b";BYHOUR=",
            b";BYMINUTE=",
            b";BYSETPOS=",
            b",",
            b"-",
            b";BYMONTH=2",
            b";COUNT=",
            b"FREQ=HOURLY",
            b"FREQ=DAILY",
            b"53",
        ],
        most=500,
    ),
    "cron": Parser(
        scheduled,
        [b"*/5 * * * *", b"30 2 29 2 MON", b"0 0 L * 5#3", b"15,45 1-5/2 * JAN-MAR *"],
        [cron],
        (),
        [b"*", b"/", b"-", b",", b"L", b"W", b"#", b"29 2", b"31 2", b" ", b"@daily"],
        most=200,
        slowest_s=1.0,
    ),
    "SVG": Parser(
        drawn,
        [SVG],
        [pictures],
        (),
        [
            b"<script>",
            b"<g>",
            b"</g>",
            b"<!DOCTYPE svg [<!ENTITY a 'b'>]>",
            b"&a;",
            b"&#0;",
            b"&#x1;",
            b'style="',
            b"url(",
            b"<![CDATA[",
            b"]]>",
            b'encoding="UTF-16"?>',
            b"<?xml version='1.0' encoding='latin1'?>",
            b"xmlns=''",
        ],
    ),
    "pictures": Parser(
        uploaded,
        [
            b"data:image/png;base64,iVBORw0KGgoAAAA=",
            b"data:image/svg+xml;base64,PHN2Zy8+",
            b"data:image/webp;base64,UklGRgAAAABXRUJQ",
        ],
        [pictures],
        words=[b"data:", b"image/svg+xml", b";base64,", b"=", b"image/x-icon"],
    ),
    "stylesheets": Parser(
        styled,
        [
            b".a{color:red;background:linear-gradient(#fff,#000)}@media print{.b{width:calc(1px + 2%)}}",
            b"a[href='x']::before{content:'\\201C'}",
        ],
        [style],
        (),
        [
            b"url(",
            b"@import ",
            b"{",
            b"}",
            b"(",
            b")",
            b"/*",
            b"*/",
            b"\\75rl(",
            b"<!--",
            b"</style>",
            b"@font-face{",
            b";",
            b"'",
            b"u+0-7f",
        ],
        slowest_s=0.5,
    ),
    "Markdown": Parser(
        marked,
        [TEXT],
        [markdown, web_markdown],
        (),
        [
            b"**",
            b"_",
            b"[",
            b"](",
            b"javascript:",
            b"https://",
            b"mailto:",
            b"<",
            b'"',
            b"`",
            b"```",
            b"\n\n",
            b"> ",
            b"1. ",
            b"\\",
        ],
        slowest_s=0.5,
    ),
    "moments, links and pings": Parser(
        of_requests,
        [
            b"2026-11-25T12:00:00.123Z",
            b"2026-11-25",
            b"0001-01-01T00:00:00+23:59",
            b"9999-12-31 23:59:59-23:59",
            b"sub_01h455vb4pex5vsknk084sn02q.1795000000." + b"a" * 40,
        ],
        [request_data, links, colour],
    ),
    "tokens of identity": Parser(
        identity,
        [
            b"eyJhbGciOiJSUzI1NiIsImtpZCI6Im9uZSJ9.eyJpc3MiOiJ4In0.AAAA\0" + KEYS,
        ],
        [id_tokens],
        (orjson.JSONDecodeError,),
        [
            b"eyJhbGciOiJub25lIn0",
            b'"keys":',
            b"[",
            b"{",
            b"null",
            b'"kty":"OKP"',
            b'"crv":"Ed25519"',
            b'"x":5',
            b'"key_ops":1',
            b'"alg":[]',
        ],
        slowest_s=0.5,
    ),
    "answers of providers": Parser(
        refused,
        [
            b'{"message":"no","errors":["a","b"],"retry_after":3}',
            b'{"description":"x","parameters":{"retry_after":1e9}}',
            b"no_service",
        ],
        [provider, slack, pagerduty, telegram, opsgenie],
        (),
        [b"[" * 900, b'{"message":', b"[", b"{", b"null", b"1e400", b'"errors":', b'"\\ud800"'],
    ),
}
