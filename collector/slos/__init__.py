"""Service level objectives: what share of time or checks must be good, and how much of it is used up."""
