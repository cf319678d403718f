"""Response headers that all pages share."""

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
