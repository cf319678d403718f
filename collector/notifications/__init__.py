"""Channels, the router that queues deliveries for events, and the sender that delivers them."""
