"""The search tools: one per active row."""
