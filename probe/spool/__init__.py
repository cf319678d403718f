"""The spool: results on disk until a collector acknowledges them."""
