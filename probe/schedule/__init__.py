"""Scheduling: due checks, the workers that run them, re-checks after failures."""
