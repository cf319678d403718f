"""Custom stylesheets of status pages: which rules are served, and which are refused."""

from collections.abc import Iterable
from typing import Any, Final

import tinycss2

# Constructs that load external resources or run code.
_BAD_RULES: Final = frozenset({"import", "charset", "namespace", "document", "-moz-document", "font-face"})
_BAD_CALLS: Final = frozenset({"url", "src", "image", "image-set", "-webkit-image-set", "expression", "attr"})
_DEEPEST: Final = 30
_BAD_NAMES: Final = frozenset({"behavior", "-moz-binding", "-ms-behavior"})


def is_stylesheet(text: str) -> bool:
    """Whether it is CSS that loads and runs nothing; if so, `cleaned` accepts it, too."""
    return "\0" not in text and all(map(_sound, _rules(text)))


def cleaned(text: str) -> str:
    """The stylesheet as parsed and serialized again, without comments and invalid rules."""
    return "\n".join(rule.serialize() for rule in _rules(text) if _sound(rule)).replace("<", "\\3c ")


def _rules(text: str) -> list[Any]:
    return list(tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True))


def _sound(rule: Any) -> bool:
    if rule.type not in {"qualified-rule", "at-rule"}:
        return False
    if rule.type == "at-rule" and rule.lower_at_keyword in _BAD_RULES:
        return False
    return _harmless(rule.prelude) and _harmless(rule.content or ())


def _harmless(tokens: Iterable[Any]) -> bool:
    """Whether the tokens are harmless and not nested too deeply: serializing recurses, unlike this."""
    todo = [(token, 0) for token in tokens]
    while todo:
        token, depth = todo.pop()
        if depth > _DEEPEST or _bad(token):
            return False
        inside = getattr(token, "content", None) or getattr(token, "arguments", None) or ()
        todo += [(each, depth + 1) for each in inside]
    return True


def _bad(token: Any) -> bool:
    match token.type:
        case "url" | "error":
            return True
        case "function":
            return token.lower_name in _BAD_CALLS
        case "at-keyword":
            return token.value.lower() in _BAD_RULES
        case "ident":
            return token.lower_value in _BAD_NAMES
    return False
