"""DNS: messages, the client, and names resolved to addresses."""
