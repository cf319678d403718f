"""Pings over ICMP and ICMPv6."""
