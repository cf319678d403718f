"""The connection engine: DNS, TCP, TLS and HTTP/1.1, with each phase timed at its event."""
