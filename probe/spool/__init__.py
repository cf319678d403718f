"""Results on disk until a collector has them."""
