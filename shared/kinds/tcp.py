"""Is a TCP port open?"""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from shared.kinds.fields import HostName, NumericText


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """*port* 1 to 65535."""

    host: HostName
    port: Annotated[int, Interval(ge=1, le=65535), NumericText()]
