"""SQL terms about spans of maintenance, which count in no uptime."""

# The time of a span, as it is indexed.
TIME = "tstzrange(s.starts_at, s.ends_at)"
# Whether the span *s* applies to the monitor *m*.
CONCERNS = "(s.every OR m.id = ANY (s.monitors) OR m.tags ?| s.names OR m.tags @> ANY (s.pairs))"
