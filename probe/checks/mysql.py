"""Does a MySQL or MariaDB server take connections?"""

from functools import partial

from probe.checks._check import Check
from probe.checks._dialogue import dialogue, secure
from probe.net.endpoint import Endpoint
from probe.net.engine import Net
from probe.net.mysql import MysqlConversation
from probe.net.stream import Stream
from shared.kinds.mysql import Mysql


def prepare(kind: Mysql) -> Check:
    to = Endpoint.of(kind.host, kind.port, verify=kind.verify_tls)

    async def talk(net: Net, stream: Stream) -> None:
        turn = partial(secure, net, stream) if kind.tls else None
        await MysqlConversation(stream, turn).start(kind.username, kind.password)

    return dialogue(to, talk)
