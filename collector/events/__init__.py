"""The team's log of events and its stream."""
