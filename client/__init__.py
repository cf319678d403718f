"""The commands that people and scripts use against the API of a service, from anywhere."""
