"""Stubs of metrics.proto, built by protos/build.py."""
