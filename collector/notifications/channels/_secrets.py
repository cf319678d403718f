"""Secrets in a URL: the URL itself, and each part that may be a token."""

from urllib.parse import parse_qsl, unquote, urlsplit

_SHORTEST = 6


def parts(url: str) -> set[str]:
    """The URL itself, its path, and the longer parts of its path, query and user."""
    split = urlsplit(url)
    words = [*split.path.split("/"), *(value for _, value in parse_qsl(split.query))]
    words += [split.username or "", split.password or "", split.query, split.path]
    return {url} | {word for each in words for word in (each, unquote(each)) if len(word) >= _SHORTEST}
