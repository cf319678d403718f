"""Findings of checks on chains: threshold crossings, logs, nodes."""
