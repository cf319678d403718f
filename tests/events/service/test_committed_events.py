"""What follows the commit of events."""

from prometheus_client import REGISTRY

from collector.platform.committed_events import commit_hook
from collector.platform.storage.on_commit import Aftermath


def counted(kind: str) -> float:
    return REGISTRY.get_sample_value("tocsin_events_total", {"kind": kind}) or 0


def pass_on(left: Aftermath) -> list[str]:
    """Who is woken by it."""
    calls: list[str] = []
    commit_hook(lambda: calls.append("tell"), lambda: calls.append("send"))(left)
    return calls


def test_events_are_counted_by_their_kind_and_told_of_once() -> None:
    before = counted("monitor.down"), counted("monitor.up")

    calls = pass_on(Aftermath(["monitor.down", "monitor.up", "monitor.down"]))

    assert (counted("monitor.down"), counted("monitor.up")) == (before[0] + 2, before[1] + 1)
    assert calls == ["tell"]


def test_who_sends_is_woken_for_deliveries_that_no_router_queued() -> None:
    assert pass_on(Aftermath([], queued=True)) == ["send"]
    assert pass_on(Aftermath(["monitor.up"], queued=True)) == ["tell", "send"]


def test_of_no_events_nobody_is_told() -> None:
    assert pass_on(Aftermath([])) == []
