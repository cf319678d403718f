"""One channel of each type, as a team would set it up, with secrets that a test can look for."""

from typing import Any, Final

from collector.notifications.channels import CHANNELS, Channel
from collector.platform.validation.validation import check
from tests.receiver import Receiver

# What no log, no error and no read-only answer may hold.
SEED: Final = "SEEDED"

HTTP: Final = ("slack", "discord", "telegram", "pagerduty", "opsgenie", "webhook", "apprise")


def config(type_: str, base: str) -> dict[str, Any]:
    """*base*: scheme, host and port of a receiver."""
    of: dict[str, dict[str, Any]] = {
        "email": {"recipients": ["ops@example.com"]},
        "slack": {
            "webhookUrl": f"{base}/services/SEEDED-T/SEEDED-B?x=SEEDED-X",
            "channel": "#ops",
            "mentions": ["@here"],
        },
        "discord": {"webhookUrl": f"{base}/api/webhooks/1/SEEDED-token"},
        "telegram": {"botToken": "123456:SEEDED-bot", "chatId": -100123, "apiUrl": base},
        "pagerduty": {"integrationKey": "SEEDED0integration0key0123456789", "apiUrl": base},
        "opsgenie": {"apiKey": "SEEDED-0000-1111", "apiUrl": base},
        "webhook": {
            "url": f"{base}/SEEDED-path",
            "headers": {"Authorization": "Bearer SEEDED-bearer"},
            "signingSecret": "SEEDED-signing",
            "previousSigningSecret": "SEEDED-previous",
        },
        "apprise": {"urls": [f"{base.replace('http', 'json', 1)}/SEEDED-service"]},
    }
    return of[type_]


def channel(type_: str, receiver: Receiver, **more: Any) -> Channel:
    made, unknown = check(CHANNELS[type_], {**config(type_, receiver.url("")), **more})
    assert not unknown
    return made
