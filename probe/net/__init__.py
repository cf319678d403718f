"""The probe's connection engine: names, TCP, TLS and HTTP/1.1, each phase timed at its event."""
