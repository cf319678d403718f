"""Counters of requests, as Prometheus reads them."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from collector.platform.metrics import Requests


def told(requests: Requests) -> dict[tuple[str, ...], float]:
    registry = CollectorRegistry()
    registry.register(requests)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def test_answers_are_counted_by_route_and_status() -> None:
    requests = Requests()
    for route, status in (("/a", 200), ("/a", 200), ("/a", 404), ('/"\\', 200)):
        requests.answered(route, status)

    numbers = told(requests)

    assert numbers["tocsin_http_requests_total", "/a", "200"] == 2
    assert numbers["tocsin_http_requests_total", "/a", "404"] == 1
    assert numbers["tocsin_http_requests_total", '/"\\', "200"] == 1


def test_a_bucket_holds_all_that_took_no_longer_its_bound_included() -> None:
    requests = Requests()
    for seconds in (0.0, 0.001, 0.0011, 0.3, 31.0):
        requests.took(seconds)

    numbers = told(requests)

    within = {bound: numbers["tocsin_http_request_seconds_bucket", bound] for bound in ("0.001", "0.0025")}
    assert within == {"0.001": 2, "0.0025": 3}
    assert numbers["tocsin_http_request_seconds_bucket", "0.5"] == 4
    assert numbers["tocsin_http_request_seconds_bucket", "30.0"] == 4
    assert numbers["tocsin_http_request_seconds_bucket", "+Inf"] == 5
    assert numbers["tocsin_http_request_seconds_count",] == 5
    assert numbers["tocsin_http_request_seconds_sum",] == 31.3021


def test_nothing_counted_yet_is_told_as_zero() -> None:
    assert told(Requests())["tocsin_http_request_seconds_count",] == 0
