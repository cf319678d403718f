"""Types of fields that several features read from requests."""

import re
from typing import Annotated, Final

from annotated_types import MaxLen, Predicate

from shared.kinds.fields import ErrorText

_EMAIL: Final = re.compile(r"[^\s@,;:<>()\[\]\\\"]+@[^\s@,;:<>()\[\]\\\"]+")


def is_email(text: str) -> bool:
    return _EMAIL.fullmatch(text) is not None and text.isprintable()


def is_tag(text: str) -> bool:
    return 0 < len(text.partition(":")[0]) <= 64 and len(text) <= 320


Email = Annotated[str, MaxLen(254), Predicate(is_email), ErrorText("must be like name@example.com")]
Tag = Annotated[str, Predicate(is_tag), ErrorText("must be the name of a tag, or name:value")]
