"""After the commit of events: counts them, and wakes the router, followers and sender."""

from collections.abc import Callable

from collector.platform import metrics
from collector.platform.storage.on_commit import Aftermath


def commit_hook(wake_router: Callable[[], None], send: Callable[[], None]) -> Callable[[Aftermath], None]:
    """A hook for `Db.pass_on`: *wake_router* wakes the event router, *send* wakes the senders."""

    def pass_on(left: Aftermath) -> None:
        for kind in left.events:
            metrics.events.labels(kind).inc()
        if left.events:
            wake_router()
        if left.queued:
            send()

    return pass_on
