"""The schema of the database, one numbered step a file."""
