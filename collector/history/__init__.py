"""Raw results, rollups, outages, uptime, and how long each is kept."""
