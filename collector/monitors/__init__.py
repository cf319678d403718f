"""Monitors: their fields, pages, bulk actions, and the explanation of their state."""
