"""The commands of a page as a script for bash: ``python3 tests/page_script.py PAGE [WRITTEN=REAL...]``.

A YAML block whose first line is a comment with a file's name is written to that file. WRITTEN is replaced by
REAL everywhere, and must be there. It needs nothing but Python: a bare machine runs it, too.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

_BLOCK = re.compile(r"^```(sh|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"# ([\w./-]+\.ya?ml)\n")
# Started before the page is followed, for it runs until it is stopped.
_LEFT_OUT = ("make run\n",)


def script(page: Path, places: Mapping[str, str]) -> str:
    """The commands of *page*, with each of *places* replaced. Raises ValueError for one that is not there."""
    parts = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for language, text in _BLOCK.findall(page.read_text()):
        name = _FILE.match(text)
        if language == "sh" and text not in _LEFT_OUT:
            parts.append(text)
        elif language == "yaml" and name:
            parts.append(
                f"mkdir -p \"$(dirname {name[1]})\"\ncat >{name[1]} <<'END_OF_FILE'\n{text}END_OF_FILE"
            )
    whole = "\n".join(parts)
    for written, real in places.items():
        if written not in whole:
            raise ValueError(f"{page} does not name {written}")
        whole = whole.replace(written, real)
    return f"{whole}\n"


if __name__ == "__main__":
    sys.stdout.write(script(Path(sys.argv[1]), dict(place.split("=", 1) for place in sys.argv[2:])))
