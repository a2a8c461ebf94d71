"""Scores and passages; no I/O."""
