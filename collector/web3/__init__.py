"""What is found on chains: crossings, findings, nodes."""
