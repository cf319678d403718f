"""What the console and the status pages share: headers of all pages, and compression."""

from functools import lru_cache
from typing import Final

PERMISSIONS_POLICY: Final = "Permissions-Policy"
# Our pages need none of a visitor's devices.
NO_DEVICES: Final = ", ".join(
    f"{name}=()"
    for name in (
        "accelerometer",
        "browsing-topics",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "usb",
    )
)


@lru_cache(maxsize=256)
def takes_gzip(accept: str) -> bool:
    """Whether an Accept-Encoding header allows gzip; ``gzip;q=0`` does not."""
    parts = [part.partition(";") for part in accept.replace(" ", "").lower().split(",")]
    return any(name == "gzip" and weight.rstrip("0.") != "q=" for name, _, weight in parts)
