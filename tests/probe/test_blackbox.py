"""The last result of each monitor, under blackbox_exporter's names."""

from prometheus_client.parser import text_string_to_metric_families

from probe.blackbox import MOST_MONITORS, Board
from probe.link.plan import Order, ProbeAssignment, prepare
from shared import ids
from shared.results import Outcome, Phases, Status

GOOD = Outcome(Status.UP, 200, phases=Phases(1_000, 2_000, 3_000, 4_000, 5_000), ends=1_900_000_000.0)


def assigned(number: int, monitor: int, type_: str, monitor_id: bytes = b"") -> ProbeAssignment:
    order = Order(
        number=number,
        monitor=monitor,
        location=1,
        revision=1,
        type=type_,
        config=b"{}",
        interval_ms=60_000,
        timeout_ms=10_000,
        monitor_id=monitor_id,
    )
    return prepare(order)


def told(board: Board) -> dict[str, float]:
    """Each sample by its name and what tells it from its like."""
    return {
        f"{sample.name} {sample.labels['monitor']} {sample.labels.get('phase', '')}".rstrip(): sample.value
        for family in text_string_to_metric_families(board.text())
        for sample in family.samples
    }


def test_each_type_has_the_names_that_dashboards_know() -> None:
    board = Board()
    board.note(assigned(1, 7, "http"), GOOD, 15_000)
    board.note(assigned(2, 8, "icmp"), Outcome(Status.DOWN, phases=Phases(dns_us=500)), 20_000)

    assert told(board) == {
        "probe_success 7": 1,
        "probe_success 8": 0,
        "probe_duration_seconds 7": 0.015,
        "probe_duration_seconds 8": 0.02,
        "probe_dns_lookup_time_seconds 7": 0.001,
        "probe_dns_lookup_time_seconds 8": 0.0005,
        "probe_http_status_code 7": 200,
        "probe_http_duration_seconds 7 resolve": 0.001,
        "probe_http_duration_seconds 7 connect": 0.002,
        "probe_http_duration_seconds 7 tls": 0.003,
        "probe_http_duration_seconds 7 processing": 0.004,
        "probe_http_duration_seconds 7 transfer": 0.005,
        "probe_icmp_duration_seconds 8 resolve": 0.0005,
        "probe_icmp_duration_seconds 8 rtt": 0,
        "probe_ssl_earliest_cert_expiry 7": 1_900_000_000,
    }


def test_what_says_nothing_of_the_target_and_what_is_gone_is_not_shown() -> None:
    board = Board()
    for number in (1, 2, 3):
        board.note(assigned(number, number, "tcp"), Outcome(Status.UP), 1_000)
    board.note(assigned(1, 1, "tcp"), Outcome(Status.UNKNOWN, error="probe: blind"), 1_000)
    board.forget(2)
    board.forget(2)

    assert set(told(board)) == {"probe_success 3", "probe_duration_seconds 3"}


def test_there_are_never_more_than_can_be_written_in_time() -> None:
    board = Board()
    for number in range(MOST_MONITORS + 10):
        board.note(assigned(number, number, "tcp"), Outcome(Status.UP), 1_000)
    board.note(assigned(5, 5, "tcp"), Outcome(Status.DOWN), 1_000)

    shown = told(board)
    assert len(shown) == 2 * MOST_MONITORS
    assert shown["probe_success 5"] == 0


def test_a_probe_without_results_shows_none() -> None:
    assert Board().text() == ""


def test_a_monitor_is_named_as_the_api_names_it() -> None:
    board, id_ = Board(), ids.uuid7()

    board.note(assigned(1, 7, "tcp", id_.bytes), Outcome(Status.UP), 1_000)
    board.note(assigned(2, 8, "tcp"), Outcome(Status.UP), 1_000)

    assert {name for name in told(board) if name.startswith("probe_success")} == {
        f"probe_success {ids.show('mon', id_)}",
        "probe_success 8",
    }
