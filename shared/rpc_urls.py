"""Parses the deployment's Web3 nodes: ``ethereum=https://...,https://...;polygon=...``."""

import re
from typing import Final

from shared.kinds.http import is_url
from shared.kinds.web3.chains import chain_of, is_chain

_FORM: Final = "must be like ethereum=https://...,https://...;polygon=https://..."
# Any other text before the equals sign may be a URL with a key in it.
_WORD: Final = re.compile(r"[A-Za-z0-9-]{1,32}")


def parse(text: str) -> dict[int, tuple[str, ...]]:
    """URLs by chain id. Raises ValueError with all errors, and no URL in it."""
    found: dict[int, tuple[str, ...]] = {}
    faults: list[str] = []
    for part in filter(None, map(str.strip, text.split(";"))):
        named, _, rest = (words.strip() for words in part.partition("="))
        urls = [url.strip() for url in rest.split(",")]
        wrong = _wrong(named, urls) if _WORD.fullmatch(named) else [_FORM]
        faults += wrong
        if not wrong:
            chain = chain_of(named).id
            found[chain] = tuple(dict.fromkeys((*found.get(chain, ()), *urls)))
    if faults or not found:
        raise ValueError("; ".join(dict.fromkeys(faults)) or _FORM)
    return found


def _wrong(named: str, urls: list[str]) -> list[str]:
    faults = [] if is_chain(named) else [f"{named} is no chain's name or id"]
    if urls == [""]:
        return [*faults, f"{named} names no URL"]
    bad = [place for place, url in enumerate(urls, start=1) if not is_url(url)]
    return faults + [f"{named}: URL {place} is no http:// or https:// URL" for place in bad]
