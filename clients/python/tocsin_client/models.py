"""The bodies of requests and answers, as classes of their own."""

from tocsin_client.generated.models import *  # noqa: F403
