"""Maintenance windows and their recurrence."""
