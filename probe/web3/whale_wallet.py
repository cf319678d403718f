"""Does much come to, or leave, a wallet?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from probe.checks._check import Check, Kept
from probe.net.engine import Net
from probe.net.spent import Limit, PhaseDurations
from probe.web3 import lag
from probe.web3.agreement import agreed
from probe.web3.checkpoint import CheckpointState
from probe.web3.coins import DIGITS, Coins, coin_of
from probe.web3.crossings import MeasuredValue, plain
from probe.web3.decode import checksummed
from probe.web3.line import begin
from probe.web3.nodes import ChainView, Pool, alike
from probe.web3.patience import answers
from probe.web3.places import PlaceFinding
from probe.web3.reader import Reader, Step
from probe.web3.restarted_chain import RestartedChain
from probe.web3.transfers import Terms, demand_erc20, of_token, symbol
from probe.web3.values import quantity, words
from probe.web3.views import balance, decimals
from shared.kinds.web3.chains import chain_or_any
from shared.kinds.web3.fields import amount, in_units, nodes
from shared.kinds.web3.whale_wallet import WhaleWallet
from shared.results import Outcome

_AT_THE_EDGE: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class _WalletBalance:
    """*balance*: raw, after the last block of *step*; None if that block was not reached."""

    step: Step[PlaceFinding]
    terms: Terms
    balance: int | None
    missed: int


def prepare(kind: WhaleWallet, kept: Kept) -> Check:
    """Raises ValueError for a configuration that cannot be run."""
    pool = Pool(nodes(kind.rpc_url, kind.chain, kind.max_block_age_seconds, kind.rpc_quorum))
    chain = chain_or_any(kind.chain)
    wallet, token = kind.address.lower(), kind.token.lower() if kind.token else None
    confirmations = chain.confirmations if kind.confirmations is None else kind.confirmations
    anew, standing = (
        RestartedChain(),
        CheckpointState(kept, "whale_wallet", chain.id, wallet, token, kind.direction),
    )

    async def terms(view: ChainView) -> Terms:
        places = DIGITS if token is None else await decimals(view, token)
        unit = coin_of(chain.id) if token is None else await symbol(view, token)
        return Terms(wallet, kind.direction, amount(kind.threshold), places, unit)

    async def check(net: Net, deadline: float) -> Outcome:
        spent, missed = PhaseDurations(), standing.heed()
        # Reread blocks were counted before: restart the comparison, as after a fork.
        more = standing.more if missed is None else standing.more | {"base": None}
        cursor, line = begin(standing, missed)
        anew.begin()

        async def look(view: ChainView) -> _WalletBalance:
            agreed_on = await terms(view)
            if token is not None and cursor is None:
                await demand_erc20(view, token)
            coins = Coins(agreed_on)
            reader = Reader(coins if token is None else of_token(token, agreed_on), confirmations)
            step = await anew.advance(reader, view, cursor, line.again)
            return _WalletBalance(step, agreed_on, await _balance(view, step, wallet, token), coins.missed)

        seen = await pool.read(net, spent, Limit.until(deadline), look, _settled)
        net_change, kept_too = _change(seen, more)
        why = lag.fault(seen.step, more.get("late"))
        kept_too |= {"cursor": seen.step.cursor.plain(), "late": seen.step.late_s}
        kept_too |= line.after(seen.step).plain()
        late = lag.measured(seen.step, standing.raised)
        state, findings = standing.settle([*_measured(seen, net_change), *late], kept_too)
        findings = [*(finding.finding for finding in seen.step.logs), *seen.step.retractions, *findings]
        return lag.came_to(spent, why, state, findings)

    return check


async def _balance(view: ChainView, step: Step[PlaceFinding], wallet: str, token: str | None) -> int | None:
    last = step.cursor.next - 1
    if not step.whole or last > view.head.number:
        return None
    [answer] = await answers(
        view, balance(replace(view, head=replace(view.head, number=last)), wallet, token)
    )
    return quantity(answer, "eth_getBalance") if token is None else words(answer, 1, "balanceOf()")[0]


def _settled(seen: Sequence[_WalletBalance], quorum: int) -> _WalletBalance | None:
    """The view that they share; else the progress that a quorum shares, without the balance."""
    same = alike(seen, quorum)
    step = agreed([balance.step for balance in seen], quorum) if same is None else None
    return same or next((replace(balance, balance=None) for balance in seen if balance.step is step), None)


def _change(seen: _WalletBalance, more: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The unexplained change of the balance since the last check, and the values to store.

    After a fork, the previous balance is useless: the comparison restarts.
    """
    base, told = _kept(more)
    told += sum(finding.net for finding in seen.step.logs)
    if seen.balance is None:
        return 0, {"base": more.get("base"), "told": str(told)}
    change = 0 if base is None or seen.step.gone is not None else seen.balance - base - told
    return change, {"base": str(seen.balance), "told": "0"}


def _kept(more: dict[str, Any]) -> tuple[int | None, int]:
    try:
        return int(more["base"]), int(more["told"])
    except (KeyError, TypeError, ValueError):
        return None, 0


def _measured(seen: _WalletBalance, change: int) -> list[MeasuredValue]:
    terms = seen.terms
    ours = {"in": max(change, 0), "out": max(-change, 0), "both": abs(change)}[terms.direction]
    value, wallet = in_units(ours, terms.places), checksummed(terms.wallet)
    way = "more" if change > 0 else "less"
    text = f"{wallet} has {plain(value)} {terms.unit} {way} than at the check before"
    measured = [MeasuredValue("balance_change", value, terms.threshold, terms.unit, text, back=_AT_THE_EDGE)]
    passed = Decimal(seen.missed)
    text = f"{seen.missed} blocks were passed over: the node keeps no state of them"
    return [*measured, MeasuredValue("missed_blocks", passed, Decimal(1), "blocks", text, back=_AT_THE_EDGE)]
