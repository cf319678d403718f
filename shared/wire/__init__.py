"""The wire between probe and collector: generated stubs, and their conversion."""
