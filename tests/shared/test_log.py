"""Logs: one form for all, on stderr, without secrets."""

import json
import subprocess
import sys

import pytest

from shared.log import strike

pytestmark = pytest.mark.races


def said(program: str, log_format: str = "json") -> str:
    """What a process says on stderr that sets its log up and then runs *program*."""
    start = f"import logging, structlog; from shared.log import set_up; set_up({log_format!r}, 'info')\n"
    done = subprocess.run(
        [sys.executable, "-c", start + program], capture_output=True, text=True, check=True, timeout=30
    )
    assert not done.stdout
    return done.stderr


def test_a_line_is_an_object_with_its_level_and_time_in_utc() -> None:
    line = json.loads(said("structlog.get_logger().info('began', probe='p1')"))

    assert (line["message"], line["level"], line["probe"]) == ("began", "info", "p1")
    assert line["timestamp"].endswith("Z")


def test_what_libraries_log_has_the_same_form() -> None:
    line = json.loads(said("logging.getLogger('lib').warning('hm %s', 1)"))

    assert (line["message"], line["level"], line["logger"]) == ("hm 1", "warning", "lib")


def test_less_than_the_level_is_not_said() -> None:
    assert said("structlog.get_logger().debug('x'); logging.getLogger('lib').info('y')") == ""


def test_a_traceback_tells_no_values() -> None:
    program = """
def inner():
    password = "hun" + "ter2"
    raise ValueError("bad")
try:
    inner()
except ValueError:
    structlog.get_logger().exception("failed")
"""
    for log_format in ("json", "console"):
        text = said(program, log_format)
        assert "bad" in text
        assert "inner" in text
        assert "hunter2" not in text


def test_values_of_secret_names_are_struck_out() -> None:
    event = {
        "event": "x",
        "Authorization": "Bearer a",
        "join_token": "b",
        "config": {"signingSecret": "c", "url": "https://example.com", "deep": {"password": "d"}},
        "secret": None,
    }

    assert strike(None, "info", event) == {
        "event": "x",
        "Authorization": "***",
        "join_token": "***",
        "config": {"signingSecret": "***", "url": "https://example.com", "deep": {"password": "***"}},
        "secret": None,
    }
