"""Alert rules, the alerts they open, and their escalation."""
