"""Messages from probes: what is no message becomes a refusal, where gRPC would log a defect and its stack."""

from collections.abc import Callable
from typing import Any, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

from collector.platform.grpc_server import Handlers
from collector.probes.sessions.hello import BadMessage
from shared.wire.v1 import probe_pb2

MessageT = TypeVar("MessageT", bound=Message)


def readable(message: MessageT | BadMessage) -> MessageT:
    """Return the message. Raises BadMessage for bytes that were none."""
    if isinstance(message, BadMessage):
        raise message
    return message


def services(*, session: Any, enrol: Any, renew: Any) -> Handlers:
    """The methods of the wire format by service, served by these; they get what `readable` takes."""
    to_probe = probe_pb2.ToProbe.SerializeToString
    credentials = probe_pb2.Credentials.SerializeToString
    return {
        "shared.wire.v1.ProbeLink": {
            "Session": grpc.stream_stream_rpc_method_handler(session, _reader(probe_pb2.FromProbe), to_probe),
        },
        "shared.wire.v1.Enrolment": {
            "Enrol": grpc.unary_unary_rpc_method_handler(enrol, _reader(probe_pb2.EnrolRequest), credentials),
            "Renew": grpc.unary_unary_rpc_method_handler(renew, _reader(probe_pb2.RenewRequest), credentials),
        },
    }


def _reader(kind: type[MessageT]) -> Callable[[bytes], MessageT | BadMessage]:
    def read(data: bytes) -> MessageT | BadMessage:
        try:
            return kind.FromString(data)
        except DecodeError:
            return BadMessage("a message that cannot be read")

    return read
