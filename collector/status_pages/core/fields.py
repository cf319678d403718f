"""Fields of a status page and its parts as callers set them, with bounds and defaults."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Final

from annotated_types import Interval, MaxLen, MinLen, Predicate

from collector.platform.fields import Email
from collector.platform.monitor import MonitorId, has_ink
from collector.status_pages.core.pictures import MAX_URL, is_data, picture
from collector.status_pages.core.status_page import (
    Look,
    Phase,
    Severity,
    Status,
    StatusMode,
    Visibility,
    is_slug,
)
from collector.status_pages.core.style import is_stylesheet
from shared import ids
from shared.kinds.fields import ErrorText, NumericText, Secret
from shared.kinds.http import is_url

MAX_COMPONENTS: Final = 1_000
MAX_CSS: Final = 50_000
MAX_LINKS: Final = 6
MAX_LINK: Final = 2_048
_COLOUR: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_DOMAIN: Final = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})+")
_MAILTO: Final = re.compile(r"mailto:[^\s@<>\"]{1,64}@[^\s@<>\"]{1,255}")
_MOMENT: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


def is_colour(text: str) -> bool:
    return _COLOUR.fullmatch(text) is not None


def is_support_url(text: str) -> bool:
    return is_url(text) or _MAILTO.fullmatch(text) is not None


def is_picture_url(text: str) -> bool:
    if is_data(text):
        return picture(text) is not None
    return len(text) <= MAX_LINK and is_url(text)


def is_domain(text: str) -> bool:
    return _DOMAIN.fullmatch(text.lower()) is not None


def is_component_id(text: str) -> bool:
    return ids.read("comp", text) is not None


def is_moment(text: str) -> bool:
    if _MOMENT.fullmatch(text) is None:
        return False
    try:
        return 1970 < datetime.fromisoformat(text.upper()).year < 9999
    except ValueError:
        return False


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text.upper())


_Ink = (MinLen(1), Predicate(has_ink), ErrorText("must not be blank"))
Name = Annotated[str, MaxLen(255), *_Ink]
Message = Annotated[str, MaxLen(10_000), *_Ink]
WebUrl = Annotated[str, MaxLen(2_048), Predicate(is_url), ErrorText("must be an http or https URL")]
PictureUrl = Annotated[
    str,
    MaxLen(MAX_URL),
    Predicate(is_picture_url),
    ErrorText(
        "must be an http or https URL, or a data URL of a PNG, JPEG, GIF, WebP, ICO or SVG up to 256 KiB"
    ),
]
SupportUrl = Annotated[
    str, MaxLen(2_048), Predicate(is_support_url), ErrorText("must be an http, https or mailto URL")
]
Colour = Annotated[str, Predicate(is_colour), ErrorText("must be a colour as #rgb or #rrggbb")]
Css = Annotated[
    str,
    MaxLen(MAX_CSS),
    Predicate(is_stylesheet),
    ErrorText("must be a stylesheet without @import, url() and the like"),
]
Slug = Annotated[
    str,
    MaxLen(63),
    Predicate(is_slug),
    ErrorText("must be small letters and digits, with single hyphens between them"),
]
Domain = Annotated[
    str, MaxLen(253), Predicate(is_domain), ErrorText("must be a host name, as status.example.com")
]
WebhookUrl = Annotated[
    str, MaxLen(8_192), Predicate(is_url), ErrorText("must be an http or https URL"), Secret()
]
ComponentId = Annotated[
    str, Predicate(is_component_id), ErrorText("must be the id of a component, which starts with comp_")
]
Moment = Annotated[
    str, MaxLen(64), Predicate(is_moment), ErrorText("must be an RFC 3339 timestamp with an offset")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderLink:
    """A link in the header of a page."""

    label: Annotated[str, MaxLen(40), *_Ink]
    """Text of the link, 1 to 40 characters."""
    url: WebUrl
    """URL that it leads to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branding:
    """How a page looks."""

    look: Look = "banner"
    """Whether the header is in the primary colour (`banner`) or in that of the page (`plain`)."""
    logo: PictureUrl | None = None
    """URL of the logo, or a data URL with the image itself, up to 256 KiB."""
    logo_dark: PictureUrl | None = None
    """URL of the logo for visitors who prefer dark pages; by default `logo`."""
    favicon: PictureUrl | None = None
    """URL of the icon in the browser's tab; by default one in the primary colour."""
    primary_color: Colour | None = None
    """Primary colour as `#rgb` or `#rrggbb`."""
    custom_css: Css | None = None
    """Stylesheet that is appended to the page's own; without `@import` and `url()`."""
    links: Annotated[list[HeaderLink], MaxLen(MAX_LINKS)] = field(default_factory=list)
    """Links in the header, such as to the product and its documentation."""
    support_url: SupportUrl | None = None
    """Where visitors get help: an http, https or mailto URL."""

    @property
    def pictures(self) -> list[str]:
        """The URLs of all pictures that the page loads from elsewhere."""
        return [url for url in (self.logo, self.logo_dark, self.favicon) if url and not is_data(url)]


def branding_of(stored: Mapping[str, Any]) -> Branding:
    """Return the branding of a page from its *stored* JSON."""
    return Branding(
        look=stored.get("look") or "banner",
        logo=stored.get("logo"),
        logo_dark=stored.get("logoDark"),
        favicon=stored.get("favicon"),
        primary_color=stored.get("primaryColor"),
        custom_css=stored.get("customCss"),
        links=[HeaderLink(**link) for link in stored.get("links") or ()],
        support_url=stored.get("supportUrl"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSettings:
    """The writable fields of a component; *status_mode* ``auto`` makes it follow its monitor again.

    *order* None: after the others.
    """

    name: Name
    """Name of the component, 1 to 255 characters."""
    description: Annotated[str, MaxLen(10_000)] = ""
    """Text that the page shows below the name."""
    group: Annotated[str, MaxLen(255)] | None = None
    """Name of the group that it is listed under."""
    monitor_id: MonitorId | None = None
    """Id of the monitor whose status it shows."""
    order: Annotated[int, Interval(ge=0, le=1_000_000), NumericText()] | None = None
    """Place in the list; without it after the others."""
    status: Status | None = None
    """Status that is shown; setting it makes the component manual."""
    status_mode: StatusMode | None = None
    """Whether the status follows the monitor (`auto`) or is set by hand (`manual`)."""
    status_message: Annotated[str, MaxLen(10_000)] | None = ""
    """Text that the page shows beside the status."""
    essential: bool = False
    """Whether its outage alone is a major outage of the page; by default only that of all components is."""
    show_uptime: bool = True
    """Whether the page shows its uptime and the bars of its days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """The writable fields of a page; the password is write-only."""

    name: Name
    """Name of the page, 1 to 255 characters."""
    slug: Slug | None = None
    """Last segment of its URL; by default derived from the name."""
    domain: Domain | None = None
    """Custom domain that shows the page."""
    visibility: Visibility = "public"
    """Who may see it: everybody (`public`), everybody but search engines (`unlisted`), or whoever knows the
    password (`private`).
    """
    password: Annotated[str, MinLen(1), MaxLen(1_024)] | None = None
    """Password of a private page. Write-only."""
    branding: Branding = field(default_factory=Branding)
    """How the page looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPage(PageSettings):
    """A page with its initial components."""

    components: Annotated[list[ComponentSettings], MaxLen(MAX_COMPONENTS)] = field(default_factory=list)
    """Initial components of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentOrder:
    """The components of a page in their new order; omitted ones are moved to the end."""

    components: Annotated[list[ComponentId], MaxLen(MAX_COMPONENTS)]
    """Ids of the components in their new order; omitted ones are moved to the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIncidentSettings:
    """The writable fields of a page incident; the schedule is only for maintenance."""

    title: Name
    """Title, 1 to 255 characters."""
    status: Phase = "investigating"
    """Phase that the incident is in."""
    severity: Severity = "minor"
    """Severity; `maintenance` may be scheduled."""
    affected_components: Annotated[list[ComponentId], MaxLen(MAX_COMPONENTS)] = field(default_factory=list)
    """Ids of the affected components."""
    component_status: Status | None = None
    """Status that the affected components show while the incident is open."""
    message: Message
    """Text of the update, in Markdown: emphasis, links, lists, quotes and code. Subscribers receive it."""
    scheduled_start: Moment | None = None
    """Scheduled start of maintenance: an RFC 3339 timestamp."""
    scheduled_end: Moment | None = None
    """Scheduled end of maintenance: an RFC 3339 timestamp."""
    reminder_minutes: Annotated[int, Interval(ge=5, le=20_160), NumericText()] | None = None
    """How many minutes before the scheduled start subscribers are reminded, once; by default never."""

    def faults(self) -> dict[str, str]:
        """Only maintenance has a schedule, and its end is after its start."""
        if self.severity != "maintenance":
            named = {
                "scheduledStart": self.scheduled_start,
                "scheduledEnd": self.scheduled_end,
                "reminderMinutes": self.reminder_minutes,
            }
            return {name: "is only for severity maintenance" for name, value in named.items() if value}
        if (self.scheduled_end or self.reminder_minutes) and not self.scheduled_start:
            return {"scheduledStart": "Scheduled start is required"}
        if (
            self.scheduled_start
            and self.scheduled_end
            and _at(self.scheduled_end) <= _at(self.scheduled_start)
        ):
            return {"scheduledEnd": "must be after scheduledStart"}
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """Kinds of updates that a subscriber receives."""

    incidents: bool = True
    """Whether updates of incidents are sent."""
    maintenance: bool = True
    """Whether updates of maintenance are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberSettings:
    """The writable fields of a subscriber: an email address or a webhook; *components* empty: all.

    *signing_secret* is the webhook's, and write-only.
    """

    email: Email | None = None
    """Email address; this or `webhookUrl` is required."""
    webhook_url: WebhookUrl | None = None
    """URL that updates are posted to; this or `email` is required. A secret: masked for read-only tokens."""
    signing_secret: Annotated[str, MinLen(1), MaxLen(4_096)] | None = None
    """Key that signs webhook requests. Write-only."""
    preferences: Preferences = field(default_factory=Preferences)
    """Kinds of updates that are sent."""
    components: Annotated[list[ComponentId], MaxLen(MAX_COMPONENTS)] = field(default_factory=list)
    """Ids of the components whose updates are sent; empty: all."""

    def faults(self) -> dict[str, str]:
        """Exactly one of email address and webhook is required."""
        if self.email is None and self.webhook_url is None:
            return {"email": "Email is required"}
        if self.email is not None and self.webhook_url is not None:
            return {"webhookUrl": "cannot be given beside email"}
        if self.signing_secret is not None and self.webhook_url is None:
            return {"signingSecret": "is only for a webhook"}
        return {}
