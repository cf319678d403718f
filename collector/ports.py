"""Checks at the start that ports are free, before anything is created."""

import socket
from contextlib import closing

from shared.errors import CannotStart
from shared.setting_table import TABLE, address
from shared.settings import CollectorSettings


def demand_free(settings: CollectorSettings) -> None:
    """Raise CannotStart if a port is taken; the message names the setting to change."""
    _demand_free(settings.http_listen, "TOCSIN_HTTP_LISTEN")
    _demand_free(settings.grpc_listen, "TOCSIN_GRPC_LISTEN")
    # The default port may be taken, often by an agent; then it is not used.
    if settings.otlp_listen != TABLE["otlp_listen"].default():
        _demand_free(settings.otlp_listen, "TOCSIN_OTLP_LISTEN")


def _demand_free(listen: str, setting: str) -> None:
    host, port = address(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((host, port))
            # Another process may bind a port that is bound, but not one that is listening.
            sock.listen(1)
        except socket.gaierror:
            return  # the actual listener reports a better error
        except OSError as error:
            raise CannotStart(
                f"cannot listen on {listen}: {error.strerror or error}; set {setting} to another address"
            ) from error
