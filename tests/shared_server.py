"""Which tests share a server and its database with their neighbours in the file."""

import pytest


def shares_server(item: pytest.Item) -> bool:
    """Whether the test's `api` is a new team on its module's server, instead of a server of its own.

    It is so in files marked `shares_server`, whose tests look at their own team alone, but for tests marked
    `own_server`. A server over a new database takes 0.06 s of CPU time, more than most of these tests.
    """
    shared = item.get_closest_marker("shares_server") and not item.get_closest_marker("own_server")
    return bool(shared) and "api" in getattr(item, "fixturenames", ())
