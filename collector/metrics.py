"""What the collector counts, for Prometheus; each part imports the number that it moves."""

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = CONTENT_TYPE_LATEST

results_committed = Counter("tocsin_results_committed_total", "Check results committed")
results_refused = Counter("tocsin_results_refused_total", "Check results refused one by one")
results_dropped = Counter("tocsin_results_dropped_total", "Check results of monitors gone or not the probe's")
result_gaps = Counter("tocsin_result_gaps_total", "Times that a probe reported lost results")
transactions = Counter("tocsin_transactions_total", "Transactions of the result writer")
collisions = Counter("tocsin_transaction_collisions_total", "Transactions of the writer tried again")
results_astray = Gauge("tocsin_results_astray", "Results in no day's partition: anything but 0 is a fault")
rollups_behind = Gauge("tocsin_rollups_behind_seconds", "Age of the oldest hour that is not rolled up")
events = Counter("tocsin_events_total", "Events appended", ["kind"])
deliveries = Counter("tocsin_deliveries_total", "Tries to deliver; pending is tried again", ["outcome"])
page_letters = Counter(
    "tocsin_page_letters_total", "Tries to tell subscribers of status pages", ["via", "outcome"]
)
second_opinions = Counter("tocsin_second_opinions_total", "Checks asked for at once, as one began to fail")
sessions = Gauge("tocsin_sessions", "Probes connected to this collector")
probes_blind = Gauge("tocsin_probes_blind", "Probes that none of their canaries answers")
probe_notices = Counter("tocsin_probe_notices_total", "Notices that a probe is gone or back", ["what"])
http_requests = Counter("tocsin_http_requests_total", "Requests answered", ["route", "status"])
http_request_seconds = Histogram(
    "tocsin_http_request_seconds",
    "Seconds to answer a request",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)


def exposition() -> bytes:
    """All of it as Prometheus reads it."""
    return generate_latest()
