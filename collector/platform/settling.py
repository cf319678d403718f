"""How long silence proves nothing after a start or a step of the clock."""

from datetime import timedelta
from typing import Final

# After a start nothing opens before every recent location is back, or this is over.
SETTLING: Final = timedelta(seconds=30)
