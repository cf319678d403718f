"""Stored credentials are checked once: the next start reads what was found, unless they have changed."""

import subprocess
import sys
from pathlib import Path

import pytest

from probe.link import credentials as files
from shared.errors import CannotStart
from tests.pki import Deployment

LOADS = """
import sys
from pathlib import Path
from probe.link import credentials, enrol
assert credentials.load(Path(sys.argv[1])) is not None
print([name for name in sys.modules if name.startswith("cryptography")])
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    Deployment().enrolled(tmp_path)
    return tmp_path / "probe"


def test_what_was_stored_is_loaded_with_or_without_what_was_found_in_it(home: Path) -> None:
    first = files.load(home)
    (home / "passport.json").unlink()
    assert first is not None
    assert first == files.load(home) == files.load(home)
    assert (home / "passport.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"digest": 1}'])
def test_an_unreadable_passport_is_written_anew(home: Path, content: bytes) -> None:
    first, path = files.load(home), home / "passport.json"
    good = path.read_bytes()
    path.write_bytes(content)
    assert files.load(home) == first
    assert path.read_bytes() == good


def test_without_room_for_the_passport_good_credentials_are_loaded_and_saved(home: Path) -> None:
    first, path = files.load(home), home / "passport.json"
    assert first is not None
    path.unlink()
    path.mkdir()
    assert files.load(home) == first
    files.save(home, first)
    assert files.load(home) == first


def test_changed_credentials_are_checked(home: Path) -> None:
    other = home / "other"
    files.own_key(other)
    (home / "key.pem").write_bytes((other / "key.pem").read_bytes())
    with pytest.raises(CannotStart, match="the certificate is for another key"):
        files.load(home)


def test_a_start_does_not_load_the_cryptography_library(home: Path) -> None:
    command = [sys.executable, "-c", LOADS, str(home)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "[]\n"
