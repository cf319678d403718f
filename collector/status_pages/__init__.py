"""Public status pages, their subscribers, and their texts."""
