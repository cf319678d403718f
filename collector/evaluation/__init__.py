"""From results to decisions: the writer, states by location, the quorum, and incidents."""
