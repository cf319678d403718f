"""Configuration as code: `tocsin apply` and `tocsin export`."""
