"""The texts of messages: built in, a team's own, and the result of a hostile template."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.notifications.channels._language import MAX_SOURCE
from collector.notifications.channels.phrases import BODY, TITLE, TITLES
from collector.notifications.channels.slack import Slack
from collector.notifications.channels.texts import MAX_BODY, MAX_TITLE, Templates, write
from collector.notifications.core.summary import notice
from collector.platform.validation.validation import check, to_json
from shared.errors import Invalid
from tests.notifications.channels.payloads import INCIDENT, LINKS, MONITOR, PARTS, event

URL = "https://hooks.example.com/x"
# Long before anybody would notice it in a loop that does other things, too.
SOON_S = 1.0


def faults(**templates: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        check(Slack, {"webhookUrl": URL, "templates": templates})
    return caught.value.details


@pytest.mark.parametrize("kind", PARTS)
def test_every_kind_of_event_has_a_title(kind: str) -> None:
    text = write(notice(event(kind)), None)

    assert text.title
    assert "{" not in text.title + text.body
    assert text.fault is None


@pytest.mark.parametrize("source", [*TITLES.values(), TITLE, BODY])
def test_the_built_in_texts_are_templates_that_a_team_could_have_written(source: str) -> None:
    assert Templates(title=source).faults() == {}


def test_a_team_s_texts_take_the_place_of_the_built_in_ones() -> None:
    templates = Templates(
        title="{{ phase | upper }} {{ monitor.name }} ({{ incident.severity }})",
        body="{% for fact in facts %}{{ fact.label }}={{ fact.value }};{% endfor %}"
        "{{ 'x' if error else 'y' }} {{ links.incident }} {{ error | truncate(10) }}",
    )

    text = write(notice(event("monitor.down")), templates)

    assert text.title == "PROBLEM Shop checkout (critical)"
    assert text.body.startswith("Since=2026-11-21 07:24:00 UTC;For=5m 32s;")
    assert text.body.endswith(f"x {LINKS['incident']} status 50…")
    assert (text.own, text.fault) == (True, None)


def test_one_of_the_two_may_be_the_built_in_one() -> None:
    text = write(notice(event("monitor.down")), Templates(title="Mine"))
    assert (text.title, text.body, text.own) == ("Mine", "status 503, expected 200-299", False)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{{ monitor.owner.name }}", "has no attribute"),
        ("{{ monitor.name - 1 }}", "unsupported operand"),
        ("{{ monitor['__class__']['x'] }}", "unsafe"),
        ("{{ facts + 5 }}", "can only concatenate"),
        ("{% for x in severity.a.b %}{% endfor %}", "has no attribute"),
    ],
)
def test_a_template_that_breaks_on_an_event_gives_way_to_the_built_in_text_and_says_so(
    source: str, why: str
) -> None:
    assert Templates(title=source, body=source).faults() == {}

    text = write(notice(event("monitor.down")), Templates(title=source, body=source))

    assert (text.title, text.body) == ("Down: Shop checkout", "status 503, expected 200-299")
    assert text.own is False
    assert text.fault is not None
    assert text.fault.count(why) == 2
    assert "the built-in text was sent" in text.fault


def test_a_title_that_comes_to_nothing_is_the_built_in_one() -> None:
    assert write(notice(event("monitor.down")), Templates(title=" \n ")).title == "Down: Shop checkout"


def test_a_title_is_one_line_whatever_is_in_it() -> None:
    monitor = {**MONITOR, "name": "a\r\nBcc: b\u2028c\u202ed"}
    assert write(notice(event("monitor.down", monitor=monitor)), None).title == "Down: a Bcc: b c d"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{{ monitor.name", "is no template"),
        ("{% if %}", "is no template"),
        ("{{ nonsense }}", "there is no nonsense"),
        ("{{ monitor.name | replace('a', 'b') }}", "there is no filter replace"),
        ("{{ monitor.name is sameas none }}", "there is no test sameas"),
        ("x" * (MAX_SOURCE + 1), "at most 4000 characters"),
    ],
)
def test_what_is_no_template_is_refused_when_it_is_saved(source: str, said: str) -> None:
    found = faults(title=source, body=source)

    assert list(found) == ["templates.title", "templates.body"]
    assert all(said in text for text in found.values())


HOSTILE = [
    "{% for i in range(10**9) %}{{ i }}{% endfor %}",
    "{% for i in range(1000000000) %}{% endfor %}",
    "{{ 'x' * 10**9 }}",
    "{{ ('x' * 1000) * 1000000 }}",
    "{{ 9**9**9**9 }}",
    "{{ '%1000000000s' % 'x' }}",
    "{{ '%1000000000s' | format('x') }}",
    "{{ 'x'.ljust(10**9) }}",
    "{{ 'x' | center(1000000000) }}",
    "{{ 'x' | indent(1000000000) }}",
    "{{ 5 | round(-1000000000) }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__ }}",
    "{{ monitor.__class__.__mro__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ lipsum(n=100000) }}",
    "{{ self.__init__ }}",
    "{% set a = 'xxxxxxxxxx' %}{% set a = a ~ a ~ a ~ a ~ a ~ a ~ a ~ a ~ a ~ a %}{{ a }}",
    "{% set ns = namespace(x='x') %}{% for f in facts %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "{% for a in facts %}{% for b in facts %}{% for c in facts %}x{% endfor %}{% endfor %}{% endfor %}",
    "{% for x in facts recursive %}{{ loop(facts) }}{% endfor %}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{% extends 'x' %}",
    "{% filter upper %}x{% endfilter %}",
    "{% call monitor() %}{% endcall %}",
    "{{ facts | map(attribute='label') | list }}",
    "{{ monitor.name | join(*facts) }}",
    "{{ {'a': 1} }}",
    "{{ " + "(" * 500 + "1" + ")" * 500 + " }}",
    "{{ " + "not " * 990 + "1 }}",
    "{{ " + "-" * 3900 + "1 }}",
    "{{ " + "[" * 90 + "]" * 90 + " }}",
    "{% if a %}" * 200 + "{% endif %}" * 200,
]


@pytest.mark.races
@pytest.mark.parametrize("source", HOSTILE)
def test_what_could_run_long_or_reach_out_is_refused_at_once(source: str) -> None:
    started = time.process_time()

    found = Templates(body=source).faults()

    assert time.process_time() - started < SOON_S
    assert list(found) == ["body"], "refused when it is saved"
    text = write(notice(event("monitor.down")), Templates(body=source))
    assert text.body == "status 503, expected 200-299", "and never run, however it came to be stored"
    assert text.fault is not None


@pytest.mark.parametrize(
    "source",
    [
        "{% for f in facts %}" + "y" * 3900 + "{% endfor %}",
        "{% for l in error %}" + "{% if error == error %}{% endif %}" * 100 + "{% endfor %}",
        "{{ " + " ~ ".join(["error"] * 450) + " }}",
        "{{ error " + "| join(error) " * 25 + " }}",
        "{% for l in error %}{{ error in error }}{{ error ~ error ~ error }}{% endfor %}",
        "{{ " + "facts + " * 25 + "facts }}",
        "{{ 1" + "1" * 3900 + " }}",
        "{% for l in " + " ~ ".join(["error"] * 200) + " %}{% if " + " ~ ".join(["error"] * 200) + " %}"
        "{% endif %}{% endfor %}",
    ],
)
@pytest.mark.races
def test_the_worst_that_is_allowed_is_soon_over_and_not_large(source: str) -> None:
    told = event("monitor.down", incident={**INCIDENT, "lastError": "ß" * 100_000})
    templates = Templates(title=source, body=source)
    assert templates.faults() == {}
    started = time.process_time()

    text = write(notice(told), templates)

    assert time.process_time() - started < SOON_S
    assert len(text.title) <= MAX_TITLE
    assert len(text.body) <= MAX_BODY


@given(st.text(alphabet="{}%| ()[]'\".-+*~=!<>,:_abcdefghilmnoprst0123456789\n", max_size=200))
def test_no_text_makes_the_validation_or_a_message_fail(source: str) -> None:
    templates = Templates(body=source)
    assert set(templates.faults()) <= {"body"}
    assert write(notice(event("monitor.down")), templates).title == "Down: Shop checkout"


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(list(PARTS)),
    st.dictionaries(
        st.sampled_from(["monitor", "incident", "alert", "links", "locationStates", "timestamp"]), json
    ),
)
def test_no_payload_makes_a_message_fail(kind: str, odd: dict[str, Any]) -> None:
    assert write(notice({**event(kind), **odd}), None).title


def test_templates_are_kept_and_taken_back_like_any_setting() -> None:
    slack, unknown = check(Slack, {"webhookUrl": URL, "templates": {"title": "T {{ event }}", "colour": 1}})
    assert unknown == ["templates.colour"]
    assert to_json(slack)["templates"] == {"title": "T {{ event }}", "body": None}


@pytest.mark.parametrize("source", ["{{ monitor.items }}", "{{ monitor.name.upper }}", "{{ alert['keys'] }}"])
def test_what_could_be_called_is_not_shown(source: str) -> None:
    text = write(notice(event("monitor.down")), Templates(body=f"<{source}>"))

    assert text.body == "<>"
