"""Stubs of remote.proto, built by protos/build.py."""
