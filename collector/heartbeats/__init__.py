"""Heartbeat monitors, which jobs ping."""
