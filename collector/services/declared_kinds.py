"""What files may declare, in the order in which it is made: each names only what comes before it."""

from collections.abc import Mapping
from typing import Final

from collector.services import (
    declared_channels,
    declared_monitors,
    declared_pages,
    declared_rules,
    declared_windows,
)
from collector.services.declared_shape import Sort

SECTIONS: Final[Mapping[str, Sort]] = {
    "monitors": declared_monitors.SORT,
    "channels": declared_channels.SORT,
    "rules": declared_rules.SORT,
    "maintenanceWindows": declared_windows.SORT,
    "statusPages": declared_pages.SORT,
}
