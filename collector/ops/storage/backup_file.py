r"""The file that a backup is: rows as PostgreSQL copies them, packed by gzip, between lines of JSON.

Unpacked it has the header; for each of its tables a line with its name, the rows, and a line ``\.``;
the trailer; the SHA-256 of all that. It is written and read as a stream, never whole in memory.
"""

import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, BinaryIO, Final, Literal

import orjson
from pydantic import TypeAdapter, ValidationError

from shared.errors import CannotStart

_END: Final = b"\n\\.\n"
_GZIP: Final = 31  # zlib parameter: gzip format, largest window
_LEVEL: Final = 4
_PIECE: Final = 1 << 18
_LONGEST_LINE: Final = 1 << 20


class BrokenBackup(CannotStart):
    """The file is not a complete backup."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupHeader:
    """A backup's header; *tables* with their columns, in the order of the file.

    *keys*: hex ids of the secret keys that it needs. *days* of results have a partition; results before
    *results_since* are left out.
    """

    format: Literal["tocsin backup 1"]
    tocsin: str
    postgres: str
    at: datetime
    migrations: Sequence[str]
    keys: Sequence[str]
    days: Sequence[date]
    results_since: date | None
    tables: Mapping[str, Sequence[str]]
    left_out: Sequence[str]


@dataclass(frozen=True, slots=True)
class Trailer:
    """The number of rows of each table, and the last value of each sequence."""

    rows: Mapping[str, int]
    sequences: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class VerifiedBackup:
    """A complete backup, read to its end."""

    header: BackupHeader
    trailer: Trailer
    digest: str


_HEADER: Final = TypeAdapter(BackupHeader)
_TRAILER: Final = TypeAdapter(Trailer)


class BackupWriter:
    """Writes the parts in the order of the calls; *out* receives the gzipped bytes."""

    def __init__(self, out: Callable[[bytes], object]) -> None:
        self._out = out
        self._hash = hashlib.sha256()
        self._packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)

    def begin(self, header: BackupHeader) -> None:
        self.rows(_line(header))

    def table(self, name: str) -> None:
        self.rows(_line({"table": name}))

    def rows(self, text: bytes) -> None:
        self._hash.update(text)
        self._out(self._packer.compress(text))

    def table_ends(self) -> None:
        self.rows(_END[1:])

    def end(self, trailer: Trailer) -> None:
        self.rows(_line(trailer))
        self.rows(_line({"sha256": self._hash.hexdigest()}))
        self._out(self._packer.flush())


class BackupReader:
    """Reads the parts in the order in which they were written. Every method raises Broken."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self._unpacker = zlib.decompressobj(_GZIP)
        self._text = b""

    def begin(self) -> BackupHeader:
        try:
            return _HEADER.validate_json(self._line())
        except ValidationError:
            raise BrokenBackup("it does not begin as a backup of Tocsin does") from None

    def table(self, name: str) -> None:
        if self._line() != _line({"table": name}):
            raise BrokenBackup(f"the table {name} is not where it should be")

    def rows(self) -> Iterator[bytes]:
        """The text of a table's rows, in arbitrary pieces."""
        # As if each table began with an empty line, so that one search finds every end.
        self._text, first = b"\n" + self._text, 1
        while (end := self._text.find(_END)) < 0:
            kept = len(self._text) - len(_END) + 1
            if kept > first:
                yield self._took(kept, first)
                first = 0
            self._fill()
        yield self._took(end + 1, first)
        self._took(len(_END) - 1)

    def end(self) -> tuple[Trailer, str]:
        """The trailer and the checksum, after it was verified."""
        try:
            trailer = _TRAILER.validate_json(self._line())
        except ValidationError:
            raise BrokenBackup("it does not end as a backup of Tocsin does") from None
        digest = self._hash.hexdigest()
        if self._line() != _line({"sha256": digest}):
            raise BrokenBackup("its checksum is another one: it was damaged")
        if self._text or self._next():
            raise BrokenBackup("something follows its end")
        return trailer, digest

    def _line(self) -> bytes:
        while (end := self._text.find(b"\n")) < 0:
            if len(self._text) > _LONGEST_LINE:
                raise BrokenBackup("one of its lines is too long")
            self._fill()
        return self._took(end + 1)

    def _took(self, length: int, first: int = 0) -> bytes:
        taken, self._text = self._text[first:length], self._text[length:]
        self._hash.update(taken)
        return taken

    def _fill(self) -> None:
        piece = self._next()
        if not piece:
            raise BrokenBackup("it ends too early")
        self._text += piece

    def _next(self) -> bytes:
        """The next piece of text; empty at the end of the file."""
        while not self._unpacker.eof:
            packed = self._unpacker.unconsumed_tail or self._read()
            if not packed:
                raise BrokenBackup("it is cut off")
            try:
                piece = self._unpacker.decompress(packed, _PIECE)
            except zlib.error:
                raise BrokenBackup("it is damaged, or no backup at all") from None
            if piece:
                return piece
        if self._unpacker.unused_data or self._read():
            raise BrokenBackup("something follows its end")
        return b""

    def _read(self) -> bytes:
        try:
            return self._file.read(_PIECE)
        except OSError as error:
            raise BrokenBackup(f"it cannot be read: {error.strerror or error}") from error


def check(file: BinaryIO) -> VerifiedBackup:
    """Read a backup completely. Raises Broken."""
    file.seek(0)
    reader = BackupReader(file)
    header = reader.begin()
    counted = {}
    for name in header.tables:
        reader.table(name)
        counted[name] = sum(piece.count(b"\n") for piece in reader.rows())
    trailer, digest = reader.end()
    if counted != trailer.rows:
        raise BrokenBackup("it has not as many rows as it says")
    return VerifiedBackup(header, trailer, digest)


def _line(value: Any) -> bytes:
    return orjson.dumps(value) + b"\n"
