"""Monitors of pushed metrics: remote write and OTLP."""
