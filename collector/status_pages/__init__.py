"""Public status pages, their subscribers, and the pages as text."""
