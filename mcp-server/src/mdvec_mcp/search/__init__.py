"""Search tools: one per collection, one across all collections, and one that reads documents."""
