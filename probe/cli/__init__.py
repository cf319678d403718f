"""`tocsin check`: one check from the command line."""
