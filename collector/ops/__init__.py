"""Running a collector: embedded PostgreSQL, backup and restore, health, keys sealed again."""
