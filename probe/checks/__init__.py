"""How each kind of monitor is checked: the table, by the type's name."""

from collections.abc import Callable
from typing import Any

from probe.checks._check import Check as Check
from probe.checks.dns import prepare as prepare_dns
from probe.checks.grpc import prepare as prepare_grpc
from probe.checks.http import prepare as prepare_http
from probe.checks.icmp import prepare as prepare_icmp
from probe.checks.imap import prepare as prepare_imap
from probe.checks.mysql import prepare as prepare_mysql
from probe.checks.pop3 import prepare as prepare_pop3
from probe.checks.postgres import prepare as prepare_postgres
from probe.checks.redis import prepare as prepare_redis
from probe.checks.smtp import prepare as prepare_smtp
from probe.checks.tcp import prepare as prepare_tcp
from probe.checks.tls import prepare as prepare_tls
from probe.checks.websocket import prepare as prepare_websocket

# Each makes a check of its own kind's configuration (shared.kinds).
CHECKS: dict[str, Callable[[Any], Check]] = {
    "dns": prepare_dns,
    "grpc": prepare_grpc,
    "http": prepare_http,
    "icmp": prepare_icmp,
    "imap": prepare_imap,
    "mysql": prepare_mysql,
    "pop3": prepare_pop3,
    "postgres": prepare_postgres,
    "redis": prepare_redis,
    "smtp": prepare_smtp,
    "tcp": prepare_tcp,
    "tls": prepare_tls,
    "websocket": prepare_websocket,
}
