"""The format of the spool's files: records with a checksum, found again behind damage."""

import errno
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

log = structlog.get_logger()

MAGIC: Final = b"TcB1"
# magic, checksum of the rest, length of data, results, incarnation, first seq, seq, total, wall clock
_HEADER: Final = struct.Struct("<4sIIIqQQQQ")
_SUMMED: Final = 8
_DAMAGED_KEPT: Final = 4
_PASSING: Final = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EINTR, errno.ENOSPC, errno.EDQUOT}
)
HEADER_BYTES: Final = _HEADER.size
MAX_DATA: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sealed:
    """A batch ready to send, with the metadata needed without decoding it.

    *total*: number of results of its incarnation up to and including this batch.
    """

    incarnation: int
    first_seq: int
    seq: int
    results: int
    total: int
    wall_us: int
    data: bytes

    @property
    def size(self) -> int:
        return HEADER_BYTES + len(self.data)


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a record, not verified by its checksum yet."""

    checksum: int
    length: int
    results: int
    incarnation: int
    first_seq: int
    seq: int
    total: int
    wall_us: int

    @property
    def size(self) -> int:
        return HEADER_BYTES + self.length


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a segment without a complete record; *torn*: a record is only truncated."""

    offset: int
    torn: bool


def pack(sealed: Sealed) -> bytes:
    """Encode *sealed* as a record."""
    fields = (
        len(sealed.data),
        sealed.results,
        sealed.incarnation,
        sealed.first_seq,
        sealed.seq,
        sealed.total,
        sealed.wall_us,
    )
    draft = _HEADER.pack(MAGIC, 0, *fields)
    checksum = zlib.crc32(sealed.data, zlib.crc32(draft[_SUMMED:]))
    return _HEADER.pack(MAGIC, checksum, *fields) + sealed.data


def read_header(front: bytes) -> Header | None:
    """Parse the header; None if it is invalid."""
    if len(front) != HEADER_BYTES:
        return None
    magic, *fields = _HEADER.unpack(front)
    header = Header(*fields)
    return header if magic == MAGIC and header.length <= MAX_DATA else None


def open_record(header: Header, record: bytes) -> Sealed | None:
    """The batch in *record* with this *header*; None if the checksum differs."""
    if len(record) != header.size or zlib.crc32(record[_SUMMED:]) != header.checksum:
        return None
    return Sealed(
        header.incarnation,
        header.first_seq,
        header.seq,
        header.results,
        header.total,
        header.wall_us,
        record[HEADER_BYTES:],
    )


def scan(content: bytes) -> Iterator[Sealed | Damage]:
    """All records of a segment in order; after damage it continues with the next valid record."""
    offset = 0
    while offset < len(content):
        header = read_header(content[offset : offset + HEADER_BYTES])
        sealed = header and open_record(header, content[offset : offset + header.size])
        if sealed:
            yield sealed
            offset += sealed.size
            continue
        following = _next_record(content, offset + 1)
        end = offset + (header.size if header else HEADER_BYTES)
        yield Damage(offset, torn=following is None and end > len(content))
        if following is None:
            return
        offset = following


def _next_record(content: bytes, offset: int) -> int | None:
    while (offset := content.find(MAGIC, offset)) >= 0:
        header = read_header(content[offset : offset + HEADER_BYTES])
        if header and open_record(header, content[offset : offset + header.size]):
            return offset
        offset += 1
    return None


class Segment:
    """A file of records, and the batches of each incarnation in it."""

    __slots__ = ("_aged_us", "_seen_us", "alive", "number", "path", "size", "spans", "wall_us")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = int(path.stem)
        self.size = 0
        self.wall_us = 0
        self.spans: dict[int, tuple[int, int]] = {}
        self.alive = True
        self._seen_us = self._aged_us = 0

    def note(self, sealed: Sealed) -> None:
        """Record that *sealed* is in the file now."""
        first, last = self.spans.get(sealed.incarnation, (sealed.first_seq, sealed.seq))
        self.spans[sealed.incarnation] = min(first, sealed.first_seq), max(last, sealed.seq)
        self.wall_us = max(self.wall_us, sealed.wall_us)
        self.size += sealed.size

    def seen(self, boot_us: int, aged_us: int = 0) -> None:
        """Its newest record is *aged_us* old now; from here on, the boot clock counts its age."""
        self._seen_us, self._aged_us = boot_us, aged_us

    def age_us(self, boot_us: int) -> int:
        return self._aged_us + boot_us - self._seen_us

    def holds_after(self, incarnation: int, seq: int) -> bool:
        span = self.spans.get(incarnation)
        return span is not None and span[1] > seq


def passes(error: OSError) -> bool:
    """Whether the error is temporary, so that a retry may succeed."""
    return error.errno in _PASSING


def load(path: Path) -> Segment:
    """Load the segment in *path*. A torn tail is cut off; valid records of a damaged file are saved."""
    segment = Segment(path)
    found = list(scan(path.read_bytes()))
    for record in found:
        if isinstance(record, Sealed):
            segment.note(record)
    damage = [record for record in found if isinstance(record, Damage)]
    if damage and damage[0].torn:
        log.info("torn record removed from the spool", segment=path.name)
        os.truncate(path, damage[0].offset)
    elif damage:
        log.error("spool segment damaged", segment=path.name, places=len(damage))
        _put_aside(path, [record for record in found if isinstance(record, Sealed)])
    return segment


def _put_aside(path: Path, records: list[Sealed]) -> None:
    """Replace a damaged file by its valid records; the last few damaged ones are kept for inspection."""
    draft = path.with_suffix(".new")
    draft.write_bytes(b"".join(map(pack, records)))
    path.replace(path.with_suffix(".damaged"))
    draft.replace(path)
    for old in sorted(path.parent.glob("*.damaged"))[:-_DAMAGED_KEPT]:
        old.unlink()


def finish_repairs(directory: Path) -> None:
    """Complete repairs that `load` had begun when the previous process was killed."""
    for draft in directory.glob("[0-9]*.new"):
        path = draft.with_suffix(".seg")
        if path.exists():
            draft.unlink()
        else:
            draft.replace(path)
