"""A fuzzer that mutates seeds, and keeps each input that reaches lines of the parser in a new order."""

import asyncio
import inspect
import random
import resource
import signal
import sys
import time
import traceback
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

# An input that takes so much of the processor's time makes a parser hang; others may have the processor, too.
HANGS_S: Final = 5.0
_WAITS_S: Final = 60.0
# How much one input may make the process grow; what the fuzzer itself keeps is far less.
MOST_GROWTH_KB: Final = 96 << 10
_MOST_KEPT: Final = 2_000
_BYTES: Final = (0, 1, 9, 10, 13, 32, 34, 39, 47, 0x7F, 0x80, 0xC0, 0xFE, 0xFF)
_NUMBERS: Final = (b"-1", b"0", b"4294967296", b"99999999999999999999", b"1e999", b"NaN")

Parse = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Parser:
    """A parser that meets strangers: *parse* takes any bytes, and raises nothing but *raises*.

    *within*: the modules whose lines count as new; *words*: tokens of its language; *slowest_s*: the bound of
    the processor's time for one input of at most *most* bytes; *inputs*: how many the quick tests try.
    """

    parse: Parse
    seeds: Sequence[bytes]
    within: Sequence[ModuleType]
    raises: tuple[type[Exception], ...] = ()
    words: Sequence[bytes] = ()
    most: int = 4_096
    slowest_s: float = 0.25
    inputs: int = 200


@dataclass(frozen=True, slots=True)
class Violation:
    """An input that breaks an invariant, as small as it could be made, and how."""

    data: bytes
    how: str


@dataclass(slots=True)
class Campaign:
    """The state of fuzzing one parser. *kept*: inputs that reached something new."""

    parser: Parser
    chance: random.Random
    kept: list[bytes] = field(default_factory=list)
    reached: set[tuple[int, int, int]] = field(default_factory=set)
    tried: int = 0


class _HangsError(BaseException):
    """The parser did not come back; nothing in it may catch this."""


async def fuzz(name: str, parser: Parser, seconds: float = 0.0) -> tuple[Campaign, Violation | None]:
    """Try the parser's number of inputs, or as many as *seconds* allow; stop at the first violation.

    *name* is the seed of chance.
    """
    campaign = Campaign(parser, random.Random(zlib.crc32(name.encode())))
    until = time.monotonic() + seconds
    for data in _inputs(campaign):
        if (time.monotonic() >= until) if seconds else (campaign.tried >= parser.inputs):
            return campaign, None
        before = len(campaign.reached)
        how = await _fault(parser, data, campaign.reached)
        campaign.tried += 1
        if how:
            return campaign, Violation(await _smaller(parser, data, how), how)
        if len(campaign.reached) > before and len(campaign.kept) < _MOST_KEPT:
            campaign.kept.append(data)
    raise AssertionError("inputs never end")


def _inputs(campaign: Campaign) -> Iterator[bytes]:
    parser = campaign.parser
    yield from parser.seeds
    yield b""
    while True:
        pool = campaign.kept if campaign.kept and campaign.chance.random() < 0.8 else parser.seeds
        # What was reached last is the least explored.
        start = campaign.chance.choice(pool[-40:] if campaign.chance.random() < 0.5 else pool)
        yield mutated(start, campaign)


def mutated(data: bytes, campaign: Campaign) -> bytes:
    """Change *data* in one to six places."""
    chance, out = campaign.chance, bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at = chance.randrange(len(out) + 1)
        end = min(len(out), at + chance.choice((1, 2, 4, 16, 64)))
        match chance.randrange(9):
            case 0 if out:
                out[at % len(out)] ^= 1 << chance.randrange(8)
            case 1 if out:
                out[at % len(out)] = chance.choice(_BYTES)
            case 2:
                del out[at:end]
            case 3:
                out[at:at] = out[at:end] * chance.choice((1, 2, 8, 100))
            case 4 | 5 if campaign.parser.words:
                out[at : chance.choice((at, end))] = chance.choice(campaign.parser.words) * chance.choice(
                    (1, 1, 1, 2, 50)
                )
            case 6:
                out[at:end] = chance.choice(_NUMBERS)
            case 7:
                other = chance.choice(campaign.kept or list(campaign.parser.seeds))
                cut = chance.randrange(len(other) + 1)
                out[at:] = other[cut:]
            case _:
                out[at:at] = chance.randbytes(chance.choice((1, 2, 8)))
    return bytes(out[: campaign.parser.most])


async def _fault(parser: Parser, data: bytes, reached: set[tuple[int, int, int]] | None) -> str:
    """How *data* breaks an invariant; empty if it does not."""
    grown, began = _size_kb(), time.thread_time()
    try:
        with _alarm(), _traced(parser.within, reached):
            await _parsed(parser, data)
    except parser.raises:
        pass
    except _HangsError:
        return f"is not done after {HANGS_S:g} s"
    except Exception as error:  # noqa: BLE001 - any other exception is the finding
        at = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(at.filename).name}:{at.lineno} ({at.name})"
        return f"{type(error).__name__} at {place}: {str(error)[:60]}"
    grown, took = _size_kb() - grown, time.thread_time() - began
    if grown > MOST_GROWTH_KB:
        return f"takes {grown >> 10} MiB"
    if took > parser.slowest_s and (reached is None or await _fault(parser, data, None)):
        return f"takes more than {parser.slowest_s:g} s"
    return ""


async def _parsed(parser: Parser, data: bytes) -> None:
    result = parser.parse(data)
    if inspect.isawaitable(result):
        await asyncio.wait_for(_waited(result), _WAITS_S)


async def _waited(result: Awaitable[Any]) -> Any:
    return await result


async def _smaller(parser: Parser, data: bytes, how: str) -> bytes:
    """Leave out parts of *data* as long as it breaks the same invariant; for a second, not for ever."""
    until, step = time.monotonic() + 1, max(1, len(data) // 2)
    while step and time.monotonic() < until and "takes" not in how and "done" not in how:
        at, before = 0, len(data)
        while at < len(data) and time.monotonic() < until:
            shorter = data[:at] + data[at + step :]
            if await _fault(parser, shorter, None) == how:
                data = shorter
            else:
                at += step
        step = step if len(data) < before and step > 1 else step // 2
    return data


@contextmanager
def _alarm() -> Iterator[None]:
    """Interrupt Python code that loops; what blocks within C comes back too late, and is measured."""

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise _HangsError

    before = signal.signal(signal.SIGPROF, ring)
    left = signal.setitimer(signal.ITIMER_PROF, HANGS_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, *left)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _traced(within: Sequence[ModuleType], reached: set[tuple[int, int, int]] | None) -> Iterator[None]:
    """Note each step from line to line of these modules."""
    if reached is None:
        yield
        return
    files = {module.__file__ for module in within}
    before = sys.gettrace()

    def enter(frame: FrameType, _event: str, _arg: object) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        code, last = id(frame.f_code), 0

        def line(frame: FrameType, _event: str, _arg: object) -> Any:
            nonlocal last
            reached.add((code, last, frame.f_lineno))
            last = frame.f_lineno
            return line

        return line

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)


def _size_kb() -> int:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
