"""Web3 monitors: their configuration, one file a subtype."""
