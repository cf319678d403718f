"""Stubs of probe.proto, built by protos/build.py."""
