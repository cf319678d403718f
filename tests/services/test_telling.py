"""What follows the commit of events."""

from prometheus_client import REGISTRY

from collector.services.telling import told


def counted(kind: str) -> float:
    return REGISTRY.get_sample_value("tocsin_events_total", {"kind": kind}) or 0


def test_events_are_counted_by_their_kind_and_told_of_once() -> None:
    before = counted("monitor.down"), counted("monitor.up")
    calls: list[str] = []

    told(["monitor.down", "monitor.up", "monitor.down"], lambda: calls.append("tell"))

    assert (counted("monitor.down"), counted("monitor.up")) == (before[0] + 2, before[1] + 1)
    assert calls == ["tell"]


def test_of_no_events_nobody_is_told() -> None:
    calls: list[str] = []

    told([], lambda: calls.append("tell"))

    assert calls == []
