"""The tools that bring the index up to date, and tell how fresh it is."""
