"""Does a subgraph keep up with its chain?"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Interval, MaxLen, Predicate

from shared.kinds.fields import Says, Secret
from shared.kinds.http import are_headers
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
    headers: Annotated[
        dict[str, str],
        MaxLen(100),
        Predicate(are_headers),
        Says("must be names and values without line breaks, none of them framing the message"),
        Secret(),
    ] = field(default_factory=dict)
    max_block_age_seconds: Age | None = None
