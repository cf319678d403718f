"""Files of AutoKuma: entities as JSON, TOML and YAML."""

from pathlib import Path
from typing import Any

import pytest

from collector.importers.cli.sources import UnreadableSource, autokuma_entities
from collector.importers.core import autokuma
from collector.importers.core.draft import WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.core.uptime_kuma import Options
from collector.importers.service.finish import finish, variables

SHOP = """
type = "http"
name = "Shop"
url = "https://example.com"
max_retries = 2
interval = 30
accepted_statuscodes = ["200-299", "404"]
parent_name = "web[0]"
notification_names = ["chat", "gone"]
basic_auth_user = "app"
basic_auth_password = "abc"
authMethod = "basic"

[[tag_names]]
name = "team"
value = "core"
"""
WEB = '[{"type": "group", "name": "Web"}, {"type": "ping", "name": "Host", "hostname": "192.0.2.1", "create_paused": true}]'  # noqa: E501 - a file's line
CHAT = (
    '{"type": "notification", "config": {"type": "slack", "slackwebhookURL": "https://hooks.example.com/a"}}'
)
PAGE = """
apiVersion: autokuma.bigboot.dev/v1
kind: KumaEntity
metadata: {name: production}
spec:
  config:
    type: status_page
    slug: production
    title: Production
    domainNameList: [status.example.com]
    public_group_list:
      - name: Services
        monitorList:
          - entity_id: apps/shop
          - name: Host
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "apps").mkdir()
    (tmp_path / "apps" / "shop.toml").write_text(SHOP)
    (tmp_path / "web.json").write_text(WEB)
    (tmp_path / "chat.json").write_text(CHAT)
    (tmp_path / "team.yaml").write_text("type: tag\nname: Team\ncolor: '#fff'\n")
    (tmp_path / "page.yml").write_text(PAGE)
    (tmp_path / "host.json").write_text('{"type": "docker_host", "connection_type": "socket"}')
    (tmp_path / "each.json").write_text('{"type": "http", "name": "{{ container_name }}", "url": "x"}')
    (tmp_path / "odd.json").write_text('{"name": "Odd"}')
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "not.json").write_text("{")
    return tmp_path


def test_a_folder(folder: Path) -> None:
    draft = autokuma.draft(autokuma_entities(folder), Options())
    sections = finish(draft)
    shop, host = sections["monitors"]
    assert (shop["key"], shop["group"], shop["tags"]) == ("kuma-apps-shop", "Web", {"Team": "core"})
    assert (shop["interval"], shop["failureThreshold"]) == (30, 3)
    assert shop["config"]["expectedStatus"] == ["200-299", 404]
    assert shop["config"]["auth"]["password"] == "${KUMA_SHOP_PASSWORD}"
    assert host["config"]["host"] == "192.0.2.1"
    assert variables(draft)["KUMA_SHOP_PASSWORD"] == "abc"
    [channel], [rule], [page] = (sections[name] for name in ("channels", "rules", "statusPages"))
    assert (channel["name"], channel["type"]) == ("chat", "slack")
    assert (rule["monitors"], rule["channels"]) == (["kuma-apps-shop"], [channel["key"]])
    assert (page["name"], page["slug"], page["domain"]) == ("Production", "production", "status.example.com")
    assert page["components"] == [
        {"name": "Shop", "group": "Services", "monitorId": "kuma-apps-shop"},
        {"name": "Host", "group": "Services", "monitorId": "kuma-web-1"},
    ]


def test_each_entity_that_is_not_carried_is_named(folder: Path) -> None:
    draft = autokuma.draft(autokuma_entities(folder), Options())
    finish(draft)
    assert {
        line.origin.name: line.reasons
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    } == {
        "host": ["Docker hosts have no counterpart"],
        "each": ["has a template, which AutoKuma fills in from a container"],
        "odd": ["has no type"],
    }
    assert "apps/shop refers to gone, which the files do not have" in draft.report.general
    [host] = [line for line in draft.report.lines if line.origin.name == "Host"]
    assert host.reasons == ["is paused there; a file cannot pause: pause it after `tocsin apply`"]


def test_a_file_alone(folder: Path) -> None:
    draft = autokuma.draft(autokuma_entities(folder / "web.json"), Options())
    assert [item["name"] for item in finish(draft)["monitors"]] == ["Host"]


@pytest.mark.parametrize(
    "content", ["a = ", "a = " + "[" * 5_000, f"a = {'9' * 5_000}", "a = " + "[" * 70 + "]" * 70]
)
def test_toml_that_cannot_be_used_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.toml").write_text(content)
    with pytest.raises(UnreadableSource, match=r"a\.toml: is (no TOML|nested deeper)"):
        autokuma_entities(tmp_path)


def test_dates_and_long_numbers_of_toml_are_texts(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"a = 2026-01-01\nb = {'9' * 30}\nc = 5\n")
    assert autokuma_entities(tmp_path) == {"a": {"a": "2026-01-01", "b": "9" * 30, "c": 5}}


@pytest.mark.parametrize("entities", [{}, {"a": None}, {"a": 5}, {"a": {"name": "x"}}])
def test_something_else_is_refused(entities: dict[str, Any]) -> None:
    with pytest.raises(WrongSource):
        autokuma.draft(entities, Options())
