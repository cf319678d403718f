"""Forms made from the models: a field for each member, and what comes back is what the model means."""

from typing import Any

import pytest

from collector.accounts.service import tokens, users
from collector.alerts.core.rule_fields import RuleSettings
from collector.console.forms import forms
from collector.console.forms import read as form_reading
from collector.console.forms.fields import FormField
from collector.notifications.channels import CHANNELS
from collector.platform import monitor
from collector.platform.validation.model_fields import defaults, members
from collector.platform.validation.validation import read, to_json
from collector.probes.service import join_tokens
from shared.kinds import KINDS

MODELS = {
    **KINDS,
    **{f"channel {name}": cls for name, cls in CHANNELS.items()},
    "monitor": monitor.MonitorSettings,
    "rule": RuleSettings,
    "user": users.UserSettings,
    "token": tokens.TokenRequest,
    "join token": join_tokens.JoinTokenRequest,
}
ADDRESS = "0x" + "a1" * 20
ABI = [
    {"type": "event", "name": "Ping", "inputs": [{"name": "n", "type": "uint256", "indexed": True}]},
    {"type": "function", "name": "ping", "inputs": []},
]
# What a person who fills in no more than is needed would type.
NEEDED: dict[str, dict[str, Any]] = {
    "dns": {"host": "example.com"},
    "http": {"url": "https://example.com"},
    "gas_price": {"chain": "ethereum", "thresholds": {"high": 200}, "rpcUrl": "https://rpc.example.com"},
    "whale_wallet": {"chain": 8453, "address": ADDRESS, "threshold": "1000.000000000000000000001"},
    "liquidation": {
        "chain": "ethereum",
        "protocol": "aave_v3",
        "pool": ADDRESS,
        "address": ADDRESS,
        "minHealthFactor": 1.25,
    },
    "defi_protocol": {"chain": "ethereum", "contract": ADDRESS, "minTvl": 12.5},
    "subgraph": {"url": "https://graph.example.com/", "chain": "ethereum"},
    "bridge": {
        side: {
            "chain": chain,
            "rpcUrl": ["https://a.example.com", "https://b.example.com"],
            "contract": ADDRESS,
            "token": ADDRESS,
        }
        for side, chain in (("source", "ethereum"), ("destination", "base"))
    },
    "web3_contract_event": {
        "chainId": 1,
        "address": ADDRESS,
        "abi": ABI,
        "eventName": "Ping",
        "filters": {"n": ["1", 2]},
    },
    "monitor": {"name": "shop"},
    "rule": {"name": "shop", "conditions": {"consecutiveFailures": 3}},
    "user": {"email": "a@example.com", "name": "A", "role": "viewer"},
    "token": {"name": "x", "permission": "admin"},
    "join token": {"locations": ["eu"]},
}


def typed(fields: tuple[FormField, ...]) -> dict[str, list[str]]:
    """What a browser sends of the fields as they stand."""
    found: dict[str, list[str]] = {}
    for field in fields:
        if field.control == "group":
            found |= typed(field.fields)
        elif field.control == "rows":
            found[f"{field.name}[]"] = [""]
            for row in field.rows:
                found |= typed(row)
        elif field.control in ("switch", "checks"):
            found[field.name] = ["", *sorted(field.checked)]
        else:
            found[field.name] = [field.value.replace("\n", "\r\n")]
    return found


@pytest.mark.parametrize("name", MODELS)
def test_a_form_that_is_sent_as_it_stands_says_what_it_was_made_of(name: str) -> None:
    cls: Any = MODELS[name]
    given = {**defaults(cls), **NEEDED.get(name, {})}

    sent = form_reading.body(cls, typed(forms.build(cls, given).fields))

    told, meant = read(cls, sent), read(cls, given)
    assert told.faults == meant.faults
    assert told.unknown == []
    if told.value is not None:
        assert to_json(told.value) == to_json(meant.value)


@pytest.mark.parametrize("name", MODELS)
def test_every_member_has_a_field_with_a_label(name: str) -> None:
    cls: Any = MODELS[name]

    fields = forms.build(cls).fields

    assert [field.name for field in fields] == list(members(cls))
    assert all(field.label for field in fields)
    assert len({field.id for field in fields}) == len(fields)


@pytest.mark.parametrize("name", NEEDED)
def test_with_what_is_needed_alone_the_model_is_content(name: str) -> None:
    cls: Any = MODELS[name]

    sent = form_reading.body(cls, typed(forms.build(cls, NEEDED[name]).fields))

    assert read(cls, sent).faults == {}


def test_faults_stand_at_the_fields_that_the_api_names() -> None:
    faults = {
        "url": "must be an http or https URL",
        "auth.type": "must be one of basic, bearer",
        "assertions[0].op": "must be one of eq, ne",
        "expectedStatus[1]": "is odd",
        "elsewhere": "is odd too",
    }
    values = {"url": "x", "auth": {"type": "x"}, "assertions": [{"source": "status", "op": "x"}]}

    form = forms.build(KINDS["http"], values, faults, prefix="config.")

    assert {field.name: field.fault for field in form.bad} == {
        "config.url": faults["url"],
        "config.auth.type": faults["auth.type"],
        "config.assertions[0].op": faults["assertions[0].op"],
        "config.expectedStatus": "[1] is odd",
    }
    assert form.faults == {"elsewhere": "is odd too"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("200", 200),
        ("200-299", "200-299"),
        ("200, 300-308", [200, "300-308"]),
        ("", None),
        ("teapot", "teapot"),
    ],
)
def test_a_status_a_range_and_a_list_are_told_apart(text: str, value: Any) -> None:
    assert form_reading.body(KINDS["http"], {"expectedStatus": [text]}) == {"expectedStatus": value}


def test_headers_are_lines_and_rows_keep_their_order() -> None:
    posted = {
        "headers": ["X-One: 1\r\n\r\nX-Two: a: b\r\nEmpty\r\n"],
        "assertions[]": [""],
        "assertions[10].source": ["body"],
        "assertions[2].source": ["status"],
        "assertions[2].op": ["eq"],
        "assertions[3].source": [""],
        "assertions[x].source": ["nonsense"],
    }

    sent = form_reading.body(KINDS["http"], posted)

    assert sent["headers"] == {"X-One": "1", "X-Two": "a: b", "Empty": ""}
    assert sent["assertions"] == [{"source": "status", "op": "eq"}, {"source": "body"}]


def test_fields_that_were_not_in_the_form_stay_as_they_are() -> None:
    assert form_reading.body(KINDS["http"], {"url": ["https://example.com"]}) == {
        "url": "https://example.com"
    }


def test_a_switch_that_is_off_is_sent_as_off() -> None:
    assert form_reading.body(KINDS["http"], {"followRedirects": [""]}) == {"followRedirects": False}
    assert form_reading.body(KINDS["http"], {"followRedirects": ["", "on"]}) == {"followRedirects": True}
