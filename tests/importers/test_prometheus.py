"""prometheus.yml, blackbox.yml, rules and alertmanager.yml together."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from collector.importers.cli.prometheus_files import prometheus_files
from collector.importers.cli.sources import UnreadableSource
from collector.importers.core import prometheus
from collector.importers.core.draft import Draft, WrongSource
from collector.importers.core.report import ImportOutcome
from collector.importers.service.finish import finish

JOB: dict[str, Any] = {
    "job_name": "web",
    "metrics_path": "/probe",
    "params": {"module": ["http_2xx"]},
    "static_configs": [
        {"targets": ["https://example.com", "shop.example.com/health"], "labels": {"env": "prod"}}
    ],
}
MODULES = {
    "http_2xx": {
        "prober": "http",
        "timeout": "5s",
        "http": {
            "valid_status_codes": [200, 204],
            "fail_if_body_not_matches_regexp": ["ok"],
            "fail_if_body_matches_regexp": ["fatal", "^a|b$"],
            "basic_auth": {"username": "app", "password": "abc"},
        },
    },
    "ping": {"prober": "icmp"},
    "any": {"prober": "dns", "dns": {"query_name": "example.com"}},
    "unix": {"prober": "unix"},
}


def written(
    folder: Path, jobs: list[dict[str, Any]], rules: Sequence[dict[str, Any]] = (), **more: Any
) -> Path:
    whole = {
        "global": {"scrape_interval": "15s"},
        "rule_files": ["/etc/prometheus/rules/*.yml"],
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(whole))
    (folder / "blackbox.yml").write_text(yaml.safe_dump({"modules": MODULES}))
    (folder / "rules").mkdir()
    (folder / "rules" / "a.yml").write_text(
        yaml.safe_dump({"groups": [{"name": "probes", "rules": [*rules]}]})
    )
    if more:
        (folder / "alertmanager.yml").write_text(yaml.safe_dump(more))
    return folder


def imported(folder: Path) -> tuple[dict[str, Any], Draft]:
    draft = prometheus.draft(prometheus_files(folder, None, None))
    return finish(draft), draft


def left_out(draft: Draft) -> dict[str, str]:
    return {
        line.origin.name: line.reasons[0]
        for line in draft.report.lines
        if line.outcome is ImportOutcome.LEFT_OUT
    }


def test_a_monitor_for_each_job_and_target(tmp_path: Path) -> None:
    (tmp_path / "targets").mkdir()
    (tmp_path / "targets" / "a.json").write_text(
        json.dumps([{"targets": ["192.0.2.1"], "labels": {"site": "a"}}])
    )
    jobs: list[dict[str, Any]] = [
        JOB,
        {
            "job_name": "ping",
            "metrics_path": "/probe",
            "params": {"module": ["ping"]},
            "file_sd_configs": [{"files": ["targets/*.json"]}],
        },
        {"job_name": "node", "static_configs": [{"targets": ["localhost:9100"]}]},
    ]
    sections, draft = imported(written(tmp_path, jobs))
    first, second, ping = sections["monitors"]
    assert first["config"] == {
        "url": "https://example.com",
        "expectedStatus": [200, 204],
        "assertions": [
            {"source": "body", "op": "matches", "value": "ok"},
            {"source": "body", "op": "notContains", "value": "fatal"},
        ],
        "auth": {"type": "basic", "username": "app", "password": "${PROMETHEUS_HTTP_2XX_PASSWORD}"},
    }
    assert (first["interval"], first["timeout"], first["group"], first["tags"]) == (
        15,
        5,
        "web",
        {"env": "prod"},
    )
    assert second["config"]["url"] == "http://shop.example.com/health"
    assert (ping["type"], ping["config"], ping["tags"]) == (
        "icmp",
        {"host": "192.0.2.1", "count": 1},
        {"site": "a"},
    )
    assert draft.report.lines[0].reasons == ["that body does not match ^a|b$ is not checked"]


def test_rules_become_thresholds_and_rules_by_the_routes(tmp_path: Path) -> None:
    rules: list[dict[str, Any]] = [
        {"alert": "Down", "expr": "probe_success == 0", "for": "1m", "labels": {"severity": "page"}},
        {"alert": "Slow", "expr": 'avg_over_time(probe_duration_seconds{job="web"}[5m]) > 2'},
        {
            "alert": "Cert",
            "expr": 'probe_ssl_earliest_cert_expiry{instance=~"https://.*"} - time() < 86400 * 14',
        },
        {"alert": "Disk", "expr": "node_filesystem_free < 1"},
        {"alert": "Odd", "expr": "probe_http_ssl == 0"},
    ]
    folder = written(
        tmp_path,
        [JOB],
        rules,
        **{
            "global": {"slack_api_url": "https://hooks.slack.com/services/T0/B0/c"},
            "route": {
                "receiver": "default",
                "routes": [{"matchers": ['severity="page"'], "receiver": "pager", "repeat_interval": "1h"}],
            },
            "receivers": [
                {"name": "default", "slack_configs": [{"channel": "#ops"}]},
                {
                    "name": "pager",
                    "pagerduty_configs": [{"routing_key": "0123456789abcdef0123456789abcdef"}],
                    "sns_configs": [{}],
                },
            ],
        },
    )
    sections, draft = imported(folder)
    first, second = sections["monitors"]
    assert (first["failureThreshold"], first["severity"]) == (4, "critical")
    assert first["config"]["assertions"][-1] == {"source": "certificateDays", "op": "gt", "value": 14}
    assert all(item["source"] != "certificateDays" for item in second["config"]["assertions"])
    assert [
        (rule["channels"], len(rule["monitors"]), rule.get("conditions"), rule["repeatMinutes"])
        for rule in sections["rules"]
    ] == [
        (["am-pager-pagerduty"], 2, None, 60),
        (["am-default-slack"], 2, {"latencyThresholdMs": 2000}, 240),
    ]
    assert left_out(draft) == {
        "pager": "receivers of type sns have no counterpart",
        "Disk": "is not about a probe of blackbox_exporter",
        "Odd": "its expression has no counterpart: probe_http_ssl == 0",
    }


def test_what_cannot_be_known_from_the_files_is_named(tmp_path: Path) -> None:
    jobs: list[dict[str, Any]] = [
        {**JOB, "job_name": "sd", "static_configs": [], "kubernetes_sd_configs": [{"role": "ingress"}]},
        {**JOB, "job_name": "files", "static_configs": [], "file_sd_configs": [{"files": ["gone/*.yml"]}]},
        {**JOB, "job_name": "any", "params": {"module": ["any"]}},
        {
            **JOB,
            "job_name": "other",
            "params": {"module": ["unknown"]},
            "static_configs": [{"targets": ["a"]}],
        },
        {**JOB, "job_name": "unix", "params": {"module": ["unix"]}, "static_configs": [{"targets": ["b"]}]},
    ]
    sections, draft = imported(written(tmp_path, jobs))
    assert "monitors" not in sections
    assert left_out(draft) == {
        "kubernetes discovery": "its targets are not in the file",
        "gone/*.yml": "the file is not beside prometheus.yml",
        "https://example.com": "DNS records of type ANY have no counterpart",
        "shop.example.com/health": "DNS records of type ANY have no counterpart",
        "a": "its module unknown is not in blackbox.yml",
        "b": "the prober unix of its module unix has no counterpart",
    }


def test_without_its_files_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="is no configuration of Prometheus"):
        prometheus_files(tmp_path, None, None)
    (tmp_path / "prometheus.yml").write_text("scrape_configs: []\n")
    with pytest.raises(WrongSource, match="give it with --blackbox"):
        prometheus.draft(prometheus_files(tmp_path / "prometheus.yml", None, None))
