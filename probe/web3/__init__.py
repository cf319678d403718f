"""What the chains are asked, on plain JSON-RPC through the engine; loaded with the first Web3 monitor."""
