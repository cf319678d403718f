"""The revision that a caller's change expects."""

from shared.errors import PreconditionFailed


def require(revision: int, only: frozenset[str] | None) -> None:
    """Raise PreconditionFailed unless *revision* is one of *only*, if that is given."""
    if only is not None and str(revision) not in only:
        raise PreconditionFailed(f"It was changed meanwhile: this is revision {revision}")
