"""Checks at the start that ports are free, before anything is created."""

import socket
from contextlib import closing

from shared.errors import CannotStart
from shared.setting_table import TABLE, address
from shared.settings import CollectorSettings


def demand_free(settings: CollectorSettings) -> None:
    """Raises CannotStart for a port that is taken, and says which setting names another one."""
    _demand_free(settings.http_listen, "TOCSIN_HTTP_LISTEN")
    _demand_free(settings.grpc_listen, "TOCSIN_GRPC_LISTEN")
    # The usual one is often some agent's, and is done without.
    if settings.otlp_listen != TABLE["otlp_listen"].default():
        _demand_free(settings.otlp_listen, "TOCSIN_OTLP_LISTEN")


def _demand_free(listen: str, setting: str) -> None:
    host, port = address(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            # Others may share the port of a socket that is bound, but not of one that listens.
            sock.listen(1)
        except socket.gaierror:
            return  # whoever listens there says so in its own words
        except OSError as error:
            raise CannotStart(
                f"cannot listen on {listen}: {error.strerror or error}; set {setting} to another address"
            ) from error
