"""The demonstration: a team with months of history, and the probes that keep it alive."""
