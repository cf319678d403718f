"""What every feature stands on: the database, leases, validation, sealing, audit, limits."""
