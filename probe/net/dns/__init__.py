"""DNS: messages, the client, and the resolver."""
