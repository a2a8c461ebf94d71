"""Scores candidates and cuts passages, without I/O."""
