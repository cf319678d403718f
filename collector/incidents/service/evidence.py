"""The evidence of an incident for callers, without the secrets of its monitor."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from collector.incidents.service.incidents import WHAT
from collector.incidents.storage import evidence, reads
from collector.incidents.storage.evidence import EvidenceRow
from collector.monitors.service.columns import whole_config
from collector.monitors.storage import monitors
from collector.platform.seal import Keyring, Unsealable
from collector.platform.storage.db import Db, Tx
from shared.errors import NotFound
from shared.evidence import Evidence, redacted
from shared.kinds import load
from shared.secrets import secret_texts

# In the order of display; the database keeps no order.
_FIELDS = ("run", "address", "statusCode", "error", "responseTime", "phases", "headers", "body")
_PHASES = ("dns", "connect", "tls", "firstByte", "transfer")


async def of_incident(db: Db, keyring: Keyring, team_id: int, id_: UUID) -> list[EvidenceRow]:
    """Return the failed checks that confirmed the incident, oldest first. Raises NotFound."""
    async with db.connection() as tx:
        incident = await reads.one(tx, team_id, id_)
        if incident is None:
            raise NotFound(f"{WHAT} not found")
        return await shown(tx, keyring, team_id, id_, incident.monitor_id)


async def shown(
    tx: Tx, keyring: Keyring, team_id: int, incident_id: UUID, monitor_id: UUID | None
) -> list[EvidenceRow]:
    """The same for an incident that exists; *monitor_id*: its monitor, which may be deleted."""
    kept = await evidence.of_incident(tx, team_id, incident_id)
    if not kept:
        return []
    secrets = await _secrets(tx, keyring, team_id, monitor_id)
    return [_less(one, secrets) for one in kept]


async def _secrets(tx: Tx, keyring: Keyring, team_id: int, monitor_id: UUID | None) -> Sequence[str] | None:
    """Return the texts to redact; None if they cannot be decrypted."""
    monitor = None if monitor_id is None else await monitors.get(tx, team_id, monitor_id)
    if monitor is None:
        return ()
    try:
        return secret_texts(load(monitor.type, whole_config(keyring, monitor)))
    except Unsealable:
        return None


def _less(evidence: EvidenceRow, secrets: Sequence[str] | None) -> EvidenceRow:
    saw: dict[str, Any] = {name: evidence.saw.get(name) for name in _FIELDS}
    saw["phases"] = {name: evidence.saw["phases"].get(name) for name in _PHASES}
    if secrets is None:
        return replace(evidence, saw={**saw, "headers": [], "body": None})
    headers = tuple((header["name"], header["value"]) for header in saw["headers"])
    seen = redacted(Evidence(saw["address"] or "", headers, saw["body"] or ""), secrets)
    shown_headers = [{"name": name, "value": value} for name, value in seen.headers]
    return replace(evidence, saw={**saw, "headers": shown_headers, "body": seen.body or None})
