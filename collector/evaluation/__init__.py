"""From results to decisions: the writer, the state of each location, the quorum, incidents opened, closed."""
