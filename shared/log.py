"""Logging to stderr: text on a terminal, JSON elsewhere, with secrets masked."""

import logging
import sys
from typing import Any, Final

import structlog
from structlog.processors import ExceptionRenderer
from structlog.tracebacks import ExceptionDictTransformer
from structlog.typing import EventDict, Processor, WrappedLogger

_SECRET: Final = ("token", "password", "secret", "authorization", "cookie", "apikey", "api_key", "credential")
_STRUCK: Final = "***"


def set_up(log_format: str, level: str) -> None:
    """Send all log messages of this process, libraries included, to stderr in one format."""
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        strike,
    ]
    last = _last(log_format)
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),  # one write a line: it is shared
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *last],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(number, logging.WARNING), force=True)


def strike(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Mask the values of keys that name secrets, also in nested dictionaries."""
    return {key: _struck(key, value) for key, value in event.items()}


def _struck(key: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {str(inner): _struck(str(inner), each) for inner, each in value.items()}
    if value is not None and any(word in key.lower() for word in _SECRET):
        return _STRUCK
    return value


def _last(log_format: str) -> list[Processor]:
    if log_format == "console":
        plain = structlog.dev.plain_traceback
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]
    return [
        # Without local variables, which may be secrets.
        ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
        structlog.processors.EventRenamer("message"),
        structlog.processors.JSONRenderer(default=str),
    ]
