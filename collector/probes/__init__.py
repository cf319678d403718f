"""Probes: enrolment, sessions, assignments and presence."""
