"""Does a PostgreSQL server take connections?"""

from probe.checks._check import Check
from probe.checks._dialogue import dialogue, secure
from probe.net import postgres
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.stream import Stream
from probe.net.tls import starttls
from shared.kinds.postgres import Postgres


def prepare(kind: Postgres) -> Check:
    to = Endpoint.of(kind.host, kind.port, verify=kind.verify_tls)

    async def talk(net: Net, stream: Stream) -> None:
        if kind.tls:
            await starttls.postgres(stream)
            await secure(net, stream)
        await postgres.start(stream, kind.username, kind.password, kind.database)

    return dialogue(to, talk)
