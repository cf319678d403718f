"""The wire between probe and collector: generated stubs, and convert.py that reads and writes them."""
