"""Whatever a chain does, and whatever order several locations see it in: in the end it is known as it is."""

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random

import pytest

from collector.platform.storage.db import Db
from shared.findings import Finding
from tests.evaluation.world import World, make_world, writing
from tests.web3.ground import EVENTS, finding, gone, hash_of, heard, log, of_chains

PLACES = ("ap", "eu", "us")


@dataclass(frozen=True, slots=True)
class Block:
    """Its branch tells it from others of its number."""

    branch: str
    transactions: tuple[str, ...]


@dataclass(slots=True)
class Chain:
    """Blocks by their numbers, and how it was before: a node may be behind."""

    chance: Random
    blocks: list[Block] = field(default_factory=list)
    past: list[list[Block]] = field(default_factory=list)
    made: int = 0

    def grow(self) -> None:
        self.past.append(list(self.blocks))
        self.blocks.append(Block(self._branch(), self._transactions(self.chance.randint(0, 2))))

    def reorganise(self) -> None:
        """The last blocks are others now: their transactions lie elsewhere, wait, or never were."""
        self.past.append(list(self.blocks))
        depth = self.chance.randint(1, min(4, len(self.blocks)))
        waiting = [transaction for block in self.blocks[-depth:] for transaction in block.transactions]
        del self.blocks[-depth:]
        self.chance.shuffle(waiting)
        for _ in range(self.chance.randint(1, depth + 1)):
            taken = [waiting.pop() for _ in range(min(len(waiting), self.chance.randint(0, 2)))]
            self.blocks.append(Block(self._branch(), tuple(taken)))

    def seen(self, *, behind: bool) -> list[Block]:
        return self.chance.choice(self.past[-3:]) if behind and self.past else list(self.blocks)

    def _branch(self) -> str:
        self.made += 1
        return f"v{self.made}-"

    def _transactions(self, count: int) -> tuple[str, ...]:
        self.made += count
        return tuple(f"t{self.made - n}" for n in range(count))


def check(known: list[Block], seen: list[Block]) -> list[Finding]:
    """What a check finds that had read *known* and sees the chain as *seen*, as the probe's reader does."""
    same = common(known, seen)
    findings = [
        log(transaction, number, branch=seen[number].branch)
        for number in range(same, len(seen))
        for transaction in seen[number].transactions
    ]
    if same < len(known):
        hashes = {n: hash_of(f"{seen[n].branch}{n}") for n in range(same, min(len(known), len(seen)))}
        findings.append(gone(same, len(known) - 1, hashes=hashes))
    return findings


def common(known: list[Block], seen: list[Block]) -> int:
    """How many blocks both begin with."""
    pairs = enumerate(zip(known, seen, strict=False))
    return next((n for n, (mine, other) in pairs if mine != other), min(len(known), len(seen)))


async def play(world: World, seed: int) -> Chain:
    chance = Random(seed)
    chain = Chain(chance)
    known: defaultdict[str, list[Block]] = defaultdict(list)
    async with writing(world) as writer:
        for _ in range(40):
            draw = chance.random()
            if draw < 0.3 or not chain.blocks:
                chain.grow()
            elif draw < 0.45:
                chain.reorganise()
            elif draw < 0.6:
                await heard(world)
            else:
                place = chance.choice(PLACES)
                seen = chain.seen(behind=chance.random() < 0.3)
                if findings := check(known[place], seen):
                    await writer.submit(finding(world, *findings, location=place))
                known[place] = seen
        for place in PLACES:
            if findings := check(known[place], chain.blocks):
                await writer.submit(finding(world, *findings, location=place))
    return chain


@pytest.mark.parametrize("seed", range(25))
async def test_what_is_known_and_told_in_the_end_is_what_the_chain_holds(db: Db, seed: int) -> None:
    world = await of_chains(await make_world(db, locations=PLACES), EVENTS)
    chain = await play(world, seed)
    stands = {
        f"{hash_of(transaction)}:0": hash_of(f"{block.branch}{number}")
        for number, block in enumerate(chain.blocks)
        for transaction in block.transactions
    }
    kept = await world.fetch("SELECT key, block_hash FROM web3_logs WHERE removed_at IS NULL")
    assert {row["key"]: row["block_hash"] for row in kept} == stands
    told: defaultdict[str, list[bool]] = defaultdict(list)
    for payload in await heard(world):
        told[payload["log"]["transactionHash"] + ":0"].append(payload["log"]["removed"])
    for key, removed in told.items():
        assert removed == [n % 2 == 1 for n in range(len(removed))]
        assert removed[-1] == (key not in stands)
    assert told.keys() >= stands.keys()
