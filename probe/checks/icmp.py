"""Does a host answer echo requests (ping)?"""

from functools import partial

from probe.checks._check import Check
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.errors import TargetError
from probe.net.icmp.pings import Heard
from probe.net.icmp.wire import MARK_BYTES
from probe.net.spent import Limit, PhaseDurations
from shared.evidence import Evidence
from shared.kinds.icmp import Icmp
from shared.results import Outcome, Status


def prepare(kind: Icmp) -> Check:
    endpoint = Endpoint.of(kind.host, 0, version=kind.ip_version)
    padding = bytes(kind.packet_size - MARK_BYTES)

    async def check(net: Net, deadline: float) -> Outcome:
        spent, limit = PhaseDurations(), Limit.until(deadline)
        try:
            heard = await net.echoes.ping(endpoint, spent, limit, kind.count, padding)
        except TargetError as error:
            error.spent, error.evidence = spent, partial(Evidence, spent.address)
            raise
        return _outcome(heard, spent, kind.max_loss_percent)

    return check


def _outcome(heard: Heard, spent: PhaseDurations, most_lost: int) -> Outcome:
    lost = heard.sent - len(heard.rtts_ns)
    percent = 100 * lost / heard.sent
    if heard.rtts_ns:
        spent.first_byte = sum(heard.rtts_ns) / len(heard.rtts_ns) / 1e9
    good = percent <= most_lost
    phases = spent.phases()
    return Outcome(
        Status.UP if good else Status.DOWN,
        error="" if good else _words(heard, lost, most_lost),
        phases=phases,
        evidence=None if good else partial(Evidence, heard.address),
        address=heard.address,
        took_us=(phases.first_byte_us or 0) + (phases.dns_us or 0) if good else None,
        loss_percent=percent,
    )


def _words(heard: Heard, lost: int, most_lost: int) -> str:
    if heard.rtts_ns:
        why = f"; {heard.fault}" if heard.fault else ""
        return f"icmp: {lost} of {heard.sent} echoes lost, more than {most_lost} %{why}"
    if heard.fault:
        return f"icmp: {heard.fault}"
    tries = "1 try" if heard.sent == 1 else f"{heard.sent} tries"
    return f"icmp: no answer from {heard.address} in {tries}"
