"""Where a page's pictures are: at a URL of the owner's, or uploaded and served with the page."""

from collections.abc import Callable, Mapping
from typing import Final

from collector.status_pages.core.fields import Branding
from collector.status_pages.core.pictures import is_data

# By the name in the URL of an uploaded picture.
PICTURES: Final[Mapping[str, Callable[[Branding], str | None]]] = {
    "logo": lambda branding: branding.logo,
    "logo-dark": lambda branding: branding.logo_dark,
    "favicon": lambda branding: branding.favicon,
}


def addresses(branding: Branding, base: str) -> dict[str, str]:
    """The URL of each picture of a page at *base*, by name; without those that it lacks."""
    urls = {kind: read(branding) for kind, read in PICTURES.items()}
    return {kind: f"{base}/picture?kind={kind}" if is_data(url) else url for kind, url in urls.items() if url}
