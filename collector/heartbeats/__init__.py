"""Monitors that jobs ping."""
