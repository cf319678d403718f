"""Does a subgraph keep up with its chain?"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Interval

from shared.kinds.fields import Secret
from shared.kinds.http import Headers
from shared.kinds.web3.fields import Age, ChainName, RpcUrl, Url


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """*url* is a GraphQL endpoint; more than *max_blocks_behind* the head of the chain raises an alert.

    By default, the chain is the one that the nodes serve.
    """

    sub_type: Literal["subgraph"] = "subgraph"
    """What the monitor watches on its chain."""
    url: Annotated[Url, Secret()]
    """URL of the GraphQL endpoint. A secret: masked for read-only tokens."""
    chain: ChainName | None = None
    """Chain by its name or id; by default the one that the nodes serve."""
    rpc_url: RpcUrl | None = None
    """URL of a JSON-RPC node, or up to 10 of them; without it the nodes of the deployment are asked. A
    secret: masked for read-only tokens.
    """
    max_blocks_behind: Annotated[int, Interval(ge=1, le=1_000_000)] = 50
    """Blocks behind the head of the chain from which an alert is raised."""
    headers: Headers = field(default_factory=dict)
    """Headers that are sent, by name. Secret: their values are masked for read-only tokens."""
    max_block_age_seconds: Age | None = None
    """Age in seconds of the newest block from which a node counts as stale; without it 20 blocks of the
    chain, at least 60 s.
    """
