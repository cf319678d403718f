"""Shared by probe and collector: the wire, the kinds of monitor, the foundation of both."""

__version__ = "0.2.0"
