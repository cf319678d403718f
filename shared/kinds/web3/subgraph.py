"""Does a subgraph keep up with its chain?"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Interval

from shared.kinds.fields import Secret
from shared.kinds.http import Headers
from shared.kinds.web3.fields import Age, ChainName, RpcUrl, Url


@dataclass(frozen=True, slots=True, kw_only=True)
class Subgraph:
    """*url* answers GraphQL; more than *max_blocks_behind* the head of the chain raises an alert.

    Without *chain* it is whichever the nodes are on.
    """

    sub_type: Literal["subgraph"] = "subgraph"
    url: Annotated[Url, Secret()]
    chain: ChainName | None = None
    rpc_url: RpcUrl | None = None
    max_blocks_behind: Annotated[int, Interval(ge=1, le=1_000_000)] = 50
    headers: Headers = field(default_factory=dict)
    max_block_age_seconds: Age | None = None
