"""What probe and collector share: the words on the wire, the kinds of monitor, and the ground under both."""

__version__ = "0.2.0"
