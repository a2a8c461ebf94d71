"""Search: a tool for each collection, one across all of them, and one that reads documents."""
