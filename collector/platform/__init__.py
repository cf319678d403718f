"""What every feature builds on: the database, leases, validation, sealing, audit, limits."""
