"""Responses to OTLP exporters, in protobuf or JSON."""

from typing import Final

import orjson
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

from collector.metrics.service.series import PushOutcome
from shared.errors import Invalid, TocsinError
from shared.wire.otlp.metrics_pb2 import Detail, RetryInfo, Status

_RETRY_INFO: Final = "type.googleapis.com/google.rpc.RetryInfo"


def taken(written: PushOutcome) -> bytes:
    """The response, with the rejected points if there are any."""
    answer = ExportMetricsServiceResponse()
    if written.refused:
        answer.partial_success.rejected_data_points = written.refused
        answer.partial_success.error_message = written.error
    return answer.SerializeToString()


def taken_json(written: PushOutcome) -> bytes:
    if not written.refused:
        return b"{}"
    rejected = {"rejectedDataPoints": str(written.refused), "errorMessage": written.error}
    return orjson.dumps({"partialSuccess": rejected})


def reason(error: TocsinError) -> str:
    """The error in one line, as the format requires."""
    if isinstance(error, Invalid):
        return "; ".join(f"{name} {why}" for name, why in error.details.items())
    return str(error)


def retry_info(seconds: int) -> bytes:
    return RetryInfo(retry_delay=RetryInfo.Delay(seconds=seconds)).SerializeToString()


def status(code: int, message: str, retry_after: int | None) -> bytes:
    """A gRPC status, as in a call's trailers and in an HTTP body."""
    details = [] if retry_after is None else [Detail(type_url=_RETRY_INFO, value=retry_info(retry_after))]
    return Status(code=code, message=message, details=details).SerializeToString()


def status_json(code: int, message: str, retry_after: int | None) -> bytes:
    details = [] if retry_after is None else [{"@type": _RETRY_INFO, "retryDelay": f"{retry_after}s"}]
    return orjson.dumps({"code": code, "message": message, "details": details})
