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
# magic, checksum of all that follows, bytes of data, results, incarnation, first seq, seq, total, wall clock
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
    """A batch as it goes out, and what one must know of it without reading it.

    *total* counts the results of its incarnation up to and with this batch.
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
    """The front of a record, not proven yet by its checksum."""

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
    """Bytes of a segment that hold no whole record; *torn* if a record merely ends too early."""

    offset: int
    torn: bool


def pack(sealed: Sealed) -> bytes:
    """The record of *sealed*."""
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
    """The header that *front* is, or None if it is none."""
    if len(front) != HEADER_BYTES:
        return None
    magic, *fields = _HEADER.unpack(front)
    header = Header(*fields)
    return header if magic == MAGIC and header.length <= MAX_DATA else None


def open_record(header: Header, record: bytes) -> Sealed | None:
    """The batch in *record*, whose front is *header*; None if the checksum says otherwise."""
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
    """Everything in a segment, in order; behind damage it goes on at the next record that proves itself."""
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
    """One file of records, and which batches of each incarnation are in it."""

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
        """*sealed* is in the file now."""
        first, last = self.spans.get(sealed.incarnation, (sealed.first_seq, sealed.seq))
        self.spans[sealed.incarnation] = min(first, sealed.first_seq), max(last, sealed.seq)
        self.wall_us = max(self.wall_us, sealed.wall_us)
        self.size += sealed.size

    def seen(self, boot_us: int, aged_us: int = 0) -> None:
        """Its newest record is *aged_us* old now; from here on its age goes by the boot clock."""
        self._seen_us, self._aged_us = boot_us, aged_us

    def age_us(self, boot_us: int) -> int:
        return self._aged_us + boot_us - self._seen_us

    def holds_after(self, incarnation: int, seq: int) -> bool:
        span = self.spans.get(incarnation)
        return span is not None and span[1] > seq


def passes(error: OSError) -> bool:
    """Does it say nothing of the file, so that another try may read it?"""
    return error.errno in _PASSING


def load(path: Path) -> Segment:
    """The segment in *path*. A torn tail is cut off; from a damaged file the whole records are saved."""
    segment = Segment(path)
    found = list(scan(path.read_bytes()))
    for record in found:
        if isinstance(record, Sealed):
            segment.note(record)
    damage = [record for record in found if isinstance(record, Damage)]
    if damage and damage[0].torn:
        log.info("cut a torn record off the spool", segment=path.name)
        os.truncate(path, damage[0].offset)
    elif damage:
        log.error("damage in the spool", segment=path.name, places=len(damage))
        _put_aside(path, [record for record in found if isinstance(record, Sealed)])
    return segment


def _put_aside(path: Path, records: list[Sealed]) -> None:
    """Keep the damaged file for whoever wants to look, the last few of them; its good records go on."""
    draft = path.with_suffix(".new")
    draft.write_bytes(b"".join(map(pack, records)))
    path.replace(path.with_suffix(".damaged"))
    draft.replace(path)
    for old in sorted(path.parent.glob("*.damaged"))[:-_DAMAGED_KEPT]:
        old.unlink()


def finish_repairs(directory: Path) -> None:
    """Bring to its end what `load` was doing when the process before was killed."""
    for draft in directory.glob("[0-9]*.new"):
        path = draft.with_suffix(".seg")
        if path.exists():
            draft.unlink()
        else:
            draft.replace(path)
