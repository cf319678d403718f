"""Incidents: their timeline, evidence, post-mortems and statistics."""
