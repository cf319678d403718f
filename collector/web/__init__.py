"""Pages for people: what is served as HTML."""
