"""The errors by which PostgreSQL refuses data, not the statement or the connection."""

import struct

import asyncpg

# What one submission's content can cause; all else is the database's trouble.
DATA_ERRORS = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
)
