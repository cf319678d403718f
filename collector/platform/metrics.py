"""The collector's Prometheus metrics; each part imports those that it changes."""

from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    Counter,
    Gauge,
    Metric,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = CONTENT_TYPE_LATEST
# A counter's creation time adds nothing to the process's start time.
disable_created_metrics()  # type: ignore[no-untyped-call]

results_committed = Counter("tocsin_results_committed_total", "Check results committed")
results_refused = Counter("tocsin_results_refused_total", "Check results rejected one by one")
results_dropped = Counter("tocsin_results_dropped_total", "Check results of deleted or unassigned monitors")
findings_refused = Counter(
    "tocsin_findings_refused_total", "Findings of checks that were not stored", ["reason"]
)
result_gaps = Counter("tocsin_result_gaps_total", "Times that a probe reported lost results")
transactions = Counter("tocsin_transactions_total", "Transactions of the result writer")
collisions = Counter("tocsin_transaction_collisions_total", "Repeated transactions of the result writer")
results_astray = Gauge("tocsin_results_astray", "Results in no day's partition; must be 0")
rollups_behind = Gauge("tocsin_rollups_behind_seconds", "Age of the oldest hour that is not rolled up")
clock_ahead = Gauge(
    "tocsin_clock_ahead_seconds",
    "Seconds by which the collector's clock is ahead of the database's; a minute is too much",
)
events = Counter("tocsin_events_total", "Events appended", ["kind"])
deliveries = Counter("tocsin_deliveries_total", "Attempts to deliver; pending ones are repeated", ["outcome"])
page_letters = Counter(
    "tocsin_page_letters_total", "Attempts to notify subscribers of status pages", ["via", "outcome"]
)
second_opinions = Counter("tocsin_second_opinions_total", "Checks requested after a failure elsewhere")
sessions = Gauge("tocsin_sessions", "Probes connected to this collector")
probes_blind = Gauge("tocsin_probes_blind", "Probes whose canaries all fail to answer")
deadman_pings = Counter("tocsin_deadman_pings_total", "Pings sent to TOCSIN_DEADMAN_URL", ["outcome"])
bytes_unpacked = Counter("tocsin_bytes_unpacked_total", "Bytes of request bodies after decompression")
probe_notices = Counter("tocsin_probe_notices_total", "Notices of probes that go offline or online", ["what"])


class Requests(Collector):
    """Numbers and durations of requests: counted by one thread, so without the library's locks."""

    _BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

    def __init__(self) -> None:
        self._answered = Tally[tuple[str, int]]()
        self._within = [0] * (len(self._BOUNDS) + 1)
        self._seconds = 0.0

    def answered(self, route: str, status: int) -> None:
        self._answered[route, status] += 1

    def took(self, seconds: float) -> None:
        self._within[bisect_left(self._BOUNDS, seconds)] += 1
        self._seconds += seconds

    def collect(self) -> Iterator[Metric]:
        """The metrics as the library requests them for each scrape."""
        answered = CounterMetricFamily(
            "tocsin_http_requests", "Requests answered", labels=("route", "status")
        )
        for (route, status), times in self._answered.items():
            answered.add_metric((route, str(status)), times)
        yield answered
        bounds = [*(f"{float(bound)}" for bound in self._BOUNDS), "+Inf"]
        yield HistogramMetricFamily(
            "tocsin_http_request_seconds",
            "Seconds to answer a request",
            buckets=list(zip(bounds, accumulate(self._within), strict=True)),
            sum_value=self._seconds,
        )


http_requests = Requests()
REGISTRY.register(http_requests)


def exposition() -> bytes:
    """All metrics in the Prometheus text format."""
    return generate_latest()
