"""Reads a form of the console as a browser would send it."""

import re
from html import unescape


def as_drawn(text: str, action: str = "/alerting") -> dict[str, list[str]]:
    """What would be sent of the first form of the page to *action*: its fields by their names."""
    form = text[text.index(f'<form method="post" action="{action}') :].partition("</form>")[0]
    found: dict[str, list[str]] = {}

    def put(name: str, value: str) -> None:
        found.setdefault(name, []).append(unescape(value))

    for tag in re.findall(r"<input [^>]*>", form):
        attributes = dict(re.findall(r'([a-z]+)="([^"]*)"', tag))
        if attributes["name"] != "csrf" and (attributes["type"] != "checkbox" or " checked" in tag):
            put(attributes["name"], attributes["value"])
    for name, inner in re.findall(r'<select [^>]*name="([^"]*)"[^>]*>(.*?)</select>', form, re.DOTALL):
        values = re.findall(r'<option value="([^"]*)" selected', inner) or re.findall(
            r'value="([^"]*)"', inner
        )
        put(name, values[0])
    for name, inner in re.findall(r'<textarea [^>]*name="([^"]*)"[^>]*>\n?(.*?)</textarea>', form, re.DOTALL):
        put(name, inner)
    return found
