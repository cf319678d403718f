"""What a check is: something that can be run again and again, made once from a monitor's configuration."""

from collections.abc import Awaitable, Callable

from probe.net.engine import Net
from shared.results import Outcome

# The float is the deadline, on time.monotonic(). Faults of the target are raised as TargetError.
Check = Callable[[Net, float], Awaitable[Outcome]]
