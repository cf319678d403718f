"""The errors by which PostgreSQL refuses data, not the statement or the connection."""

import struct

import asyncpg

# Errors that a single submission's content can cause; all others are database failures.
DATA_ERRORS = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
)
