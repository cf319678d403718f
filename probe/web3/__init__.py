"""Web3 checks: plain JSON-RPC through the engine; loaded with the first Web3 monitor."""
