"""The console's handlers: the table of its pages, what goes around each, sign-in and settings."""
