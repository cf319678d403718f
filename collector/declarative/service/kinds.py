"""Kinds of declarable resources, in dependency order."""

from collections.abc import Mapping
from typing import Final

from collector.declarative.answers import Section
from collector.declarative.service import (
    channels,
    incident_templates,
    maintenance_windows,
    monitors,
    rules,
    status_pages,
)
from collector.declarative.service.shape import Sort

SECTIONS: Final[Mapping[Section, Sort]] = {
    "monitors": monitors.SORT,
    "channels": channels.SORT,
    "rules": rules.SORT,
    "maintenanceWindows": maintenance_windows.SORT,
    "statusPages": status_pages.SORT,
    "incidentTemplates": incident_templates.SORT,
}
