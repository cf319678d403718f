"""What Web3 monitors show beside what all monitors do."""

from collector.http.openapi.models import Schema
from collector.http.openapi.parts import flag, free, many, maybe, moment, record, text, whole

_ADDRESS = "0xdac17f958d2ee523a2206206994597c13d831ec7"
_TRANSACTION = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060"
_MEASURED: dict[str, Schema] = {
    "current": maybe(text("52.1")),
    "threshold": maybe(text("50")),
    "unit": maybe(text("gwei")),
    "message": maybe(text("gas costs 52.1 gwei, at or above 50")),
}
_LOG: dict[str, Schema] = {
    "name": maybe(text("Transfer")),
    "args": maybe(free({"from": _ADDRESS, "to": _ADDRESS, "value": "1500000"})),
    "address": maybe(text(_ADDRESS)),
    "transactionHash": maybe(text(_TRANSACTION)),
    "blockNumber": maybe(whole(19_000_000)),
    "logIndex": maybe(whole(12)),
    "error": text("the data does not fit the event"),
}
# Of a monitor: thresholds that are crossed now, amounts as decimal texts.
ALERT: Schema = record(
    type=text("high_gas"), since=moment(), locations=many(text("local")), told=flag(), **_MEASURED
)
# Of a result: what it read of the chain.
LOG: Schema = record(("error",), **_LOG, removed=flag())
# Of a test: all that it measured, crossed or not, and what it read.
FOUND: Schema = record(
    alerts=many(record(type=text("high_gas"), raised=flag(), **_MEASURED)),
    logs=many(record(("error",), **_LOG)),
)
TESTED = record(
    ("daysLeft", "web3"),
    success=flag(),
    responseTime=whole(38),
    statusCode=maybe(whole(200)),
    message=text("It answered in 38 ms"),
    daysLeft=whole(59),
    web3=FOUND,
)
