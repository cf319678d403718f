"""Addresses of a status page: under our own, at a custom domain, or in a folder of files."""

from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class PageAddresses:
    """Prefix and suffix of a page's links; *url* is complete, without a trailing slash.

    *fixed*: static files, where no server accepts forms. *subscribe*: URL of the subscription form.
    """

    base: str
    home: str
    json: str
    url: str
    suffix: str = ""
    fixed: bool = False
    subscribe: str = ""

    def incident(self, id_: str) -> str:
        """Return the path of the incident's page; in static files, of its place in the history."""
        return f"{self.base}/history{self.suffix}#{id_}" if self.fixed else f"{self.base}/incidents/{id_}"

    def incident_url(self, id_: str) -> str:
        """Return the complete URL of `incident`."""
        return self.url + self.incident(id_).removeprefix(self.base)


@lru_cache(maxsize=1_024)
def under(public_url: str, slug: str, *, mails: bool = False) -> PageAddresses:
    """``/status/{slug}`` of the deployment; *mails*: whether mails can be sent."""
    base = f"/status/{slug}"
    return PageAddresses(
        base, base, f"{base}.json", public_url + base, subscribe=f"{base}/subscribe" if mails else ""
    )


def at_domain(scheme: str, host: str, *, mails: bool = False) -> PageAddresses:
    """The page's own domain, where it owns all paths."""
    return PageAddresses(
        "", "/", "/status.json", f"{scheme}://{host}", subscribe="/subscribe" if mails else ""
    )


def in_folder(url: str) -> PageAddresses:
    """Files in one folder, on any host."""
    return PageAddresses(".", "./index.html", "./status.json", url.rstrip("/"), ".html", fixed=True)
